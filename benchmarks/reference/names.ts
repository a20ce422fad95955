import { type Random, seededRandom } from '@quicksilver/testing';

const EXTENSIONS = ['.ts', '.cpp', '.h', '.py', '.js', '.html', '.ini', '.rs', '.json', '.txt'];
/** Files of a directory, on average. */
const PER_DIRECTORY = 12;

/** Sorted paths of a source tree: nested directories, some names with capitals and underscores. */
export function treeNames(count: number, seed: number): string[] {
  const random = seededRandom(seed);
  const directories = [''];
  while (directories.length < Math.max(2, count / PER_DIRECTORY)) {
    const parent = random.pick(directories);
    if (parent.split('/').length < 8) directories.push(`${parent}${part(random)}/`);
  }
  const names = new Set<string>();
  while (names.size < count) names.add(`${random.pick(directories)}${part(random)}${random.pick(EXTENSIONS)}`);
  return [...names].sort((a, b) => (a < b ? -1 : 1));
}

function part(random: Random): string {
  const plain = Array.from({ length: random.int(3, 14) }, () => String.fromCharCode(random.int(97, 123))).join('');
  const kind = random.int(0, 10);
  if (kind === 0) return `${plain.charAt(0).toUpperCase()}${plain.slice(1)}`;
  return kind === 1 ? `${plain}_${random.int(0, 100)}` : plain;
}
