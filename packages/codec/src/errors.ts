import { CodedError, type Where } from '@quicksilver/bytes';

export type CodecErrorCode =
  | 'HG_TRUNCATED'
  | 'HG_CORRUPT'
  | 'HG_LIMIT'
  | 'HG_NOT_YET'
  | 'HG_MEMORY'
  | 'HG_CANCELLED'
  | 'HG_CLOSED';

export function codecError(code: CodecErrorCode, message: string, where: Where, cause?: unknown): CodedError {
  return new CodedError<CodecErrorCode>(code, message, where, cause);
}

/** Turns what zlib and zstd report into our codes; errors that are not theirs (the source's own) pass unchanged. */
export function translate(err: unknown, where: Where): unknown {
  const code = typeof err === 'object' && err !== null && 'code' in err ? String(err.code) : '';
  if (code === 'Z_BUF_ERROR') return codecError('HG_TRUNCATED', 'the compressed data ends too early', where, err);
  if (code === 'ERR_BUFFER_TOO_LARGE') return codecError('HG_LIMIT', 'the decompressed data is too large', where, err);
  if (code === 'Z_MEM_ERROR' || code === 'ZSTD_error_memory_allocation') {
    return codecError('HG_MEMORY', 'memory ran out while decompressing', where, err);
  }
  if (code === 'ERR_ZLIB_INITIALIZATION_FAILED') {
    return codecError('HG_MEMORY', 'a decompressor cannot be set up', where, err);
  }
  if (/^(Z_|ZSTD_)/.test(code)) {
    return codecError('HG_CORRUPT', 'the compressed data is damaged', { ...where, reason: code }, err);
  }
  return err;
}
