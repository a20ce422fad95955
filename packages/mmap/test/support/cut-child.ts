// The file is cut while it is used: by reads a fault with a code, by a mapping the end of this process.
import { truncateSync } from 'node:fs';
import { openBytes } from '../../src/index.ts';

const path = process.argv[2] ?? '';
const stable = process.argv[3] === 'staging' ? 'staging' : undefined;
const file = openBytes(path, { stable, populate: 'none' });
truncateSync(path, 10);
try {
  console.log(file.read(file.size - 1, 1)[0]);
} catch (err) {
  console.log((err as { code?: unknown }).code);
}
