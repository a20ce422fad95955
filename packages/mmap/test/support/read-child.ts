// Where koffi cannot be loaded (see the test): the same bytes, by reads.
import { MappedFile, openBytes } from '../../src/index.ts';

const path = process.argv[2] ?? '';
using file = openBytes(path, { stable: 'staging', populate: 'eager' });
let code: unknown;
try {
  MappedFile.open(path, { stable: 'staging' });
} catch (err) {
  code = (err as { code?: unknown }).code;
}
console.log(
  JSON.stringify({ mapped: file.mapped, size: file.bytes.length, last: file.read(file.size - 1, 1)[0], code }),
);
