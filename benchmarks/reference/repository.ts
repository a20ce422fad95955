import { seededRandom } from '@quicksilver/testing';
import { treeNames } from './names.ts';
import { type Hunk, RevlogWriter, type StoreFile } from './revlog-writer.ts';
import { Texts, textSize } from './texts.ts';

export interface ReferenceSettings {
  readonly files: number;
  /** Median size of a text; the distribution is log-normal (see texts.ts). */
  readonly medianText: number;
  readonly seed: number;
}

/** The first adds all files, each later one touches a sixteenth of them. */
export const CHANGESETS = 9;
const SHARE = 16;

export const REQUIREMENTS = ['generaldelta', 'revlogv1', 'sparserevlog'];

/** A made-up history that stock hg verifies: its store files in the order in which hg streams them. */
export function* referenceStore(settings: ReferenceSettings): Generator<StoreFile> {
  const names = treeNames(settings.files, settings.seed);
  const history = new History(names);
  const texts = new Texts(settings.seed + 1);
  const random = seededRandom(settings.seed + 2);
  for (const [i, name] of names.entries()) {
    const log = new RevlogWriter();
    const first = texts.cut(random, textSize(random, settings.medianText));
    history.changed(0, i, log.text(first, 0));
    const c = (i % SHARE) + 1;
    if (c < CHANGESETS) {
      const hunk = { start: first.length, end: first.length, data: Buffer.from(`changed in ${c}\n`) };
      history.changed(c, i, log.delta(Buffer.concat([first, hunk.data]), [hunk], c));
    }
    yield* log.files(`data/${name}`);
  }
  yield* history.files();
}

/** Manifest and changelog, once all file nodes are known. */
class History {
  readonly #names: readonly string[];
  readonly #nodes: Map<number, string>[] = Array.from({ length: CHANGESETS }, () => new Map());

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  changed(changeset: number, file: number, node: Buffer): void {
    this.#nodes[changeset]?.set(file, node.toString('hex'));
  }

  files(): StoreFile[] {
    const manifest = new RevlogWriter();
    const changelog = new RevlogWriter();
    const offsets: number[] = [];
    let text = Buffer.alloc(0);
    for (const [c, nodes] of this.#nodes.entries()) {
      if (c === 0) {
        let at = 0;
        const lines = this.#names.map((name, i) => {
          const line = `${name}\0${nodes.get(i) ?? ''}\n`;
          offsets.push(at);
          at += line.length;
          return line;
        });
        text = Buffer.from(lines.join(''), 'latin1');
        manifest.text(text, 0);
      } else {
        text = Buffer.from(text);
        const hunks = Array.from(nodes, ([i, node]) =>
          this.#replace(text, offsets[i] ?? 0, `${this.#names[i]}\0${node}\n`),
        );
        manifest.delta(text, hunks, c);
      }
      const touched = Array.from(nodes.keys(), (i) => `\n${this.#names[i]}`).join('');
      changelog.text(Buffer.from(`${manifest.node.toString('hex')}\nbench\n${c} 0${touched}\n\nchange ${c}`), c);
    }
    return [...manifest.files('00manifest'), ...changelog.files('00changelog', false)];
  }

  /** A line of the same length: only its node changes. */
  #replace(text: Buffer, start: number, line: string): Hunk {
    const data = Buffer.from(line, 'latin1');
    data.copy(text, start);
    return { start, end: start + data.length, data };
  }
}
