import { spawnSync } from 'node:child_process';

const COMPRESS = 'import bz2, sys; sys.stdout.buffer.write(bz2.compress(sys.stdin.buffer.read(), int(sys.argv[1])))';

/** One bzip2 stream, made by Python, which is there for stock hg: Node has no such compressor, nor have we. */
export function bzip2(bytes: Uint8Array, level = 9): Buffer {
  const child = spawnSync('python3', ['-c', COMPRESS, String(level)], { input: bytes, maxBuffer: 1 << 30 });
  if (child.status !== 0)
    throw new Error(`python3 cannot compress: ${child.error?.message ?? child.stderr.toString()}`);
  return child.stdout;
}
