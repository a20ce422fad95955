import { constants } from 'node:os';
import { CodedError, type Where } from '@quicksilver/bytes';
import { codeFacts, type FaultClass, type HgErrorCode, isHgErrorCode } from './error-codes.ts';

/** An error with a code of the closed set. The message is static; facts of the instance are in `where`. */
export class HgError extends CodedError<HgErrorCode> {
  override readonly name = 'HgError';

  get retryable(): boolean {
    return codeFacts(this.code).retryable;
  }

  get class(): FaultClass {
    return codeFacts(this.code).class;
  }

  get advice(): string {
    return codeFacts(this.code).advice;
  }
}

/** How a failure crosses threads, processes, queues and HTTP: plain data, no stack. */
export interface FaultRecord {
  readonly code: HgErrorCode;
  readonly class: FaultClass;
  readonly message: string;
  readonly where: Where;
  readonly retryable: boolean;
  readonly advice: string;
}

const ERRNO: Readonly<Record<string, HgErrorCode>> = {
  ENOSPC: 'HG_NO_SPACE',
  EDQUOT: 'HG_NO_SPACE',
  EFBIG: 'HG_FILE_LIMIT',
  EIO: 'HG_IO',
  EROFS: 'HG_READ_ONLY',
  EACCES: 'HG_READ_ONLY',
  EPERM: 'HG_READ_ONLY',
  EMFILE: 'HG_TOO_MANY_FILES',
  ENFILE: 'HG_TOO_MANY_FILES',
  ENOENT: 'HG_NOT_FOUND',
  ENOTDIR: 'HG_NOT_FOUND',
  EEXIST: 'HG_EXISTS',
  ENOMEM: 'HG_MEMORY',
  ERR_WORKER_OUT_OF_MEMORY: 'HG_MEMORY',
};

/** Turns anything thrown into an HgError: coded errors keep code and facts, errno becomes a storage or source fault. */
export function toHgError(err: unknown, where: Where = {}): HgError {
  if (err instanceof HgError && Object.keys(where).length === 0) return err;
  if (err instanceof Error || (typeof err === 'object' && err !== null && 'message' in err)) {
    const { code, where: own, message } = err as { code?: unknown; where?: Where; message: unknown };
    if (isHgErrorCode(code)) return new HgError(code, String(message), { ...where, ...own }, err);
    if ((err as Error).name === 'AbortError') return new HgError('HG_CANCELLED', 'the work was cancelled', where, err);
    const sys = err as NodeJS.ErrnoException;
    const name = errnoName(sys);
    const known = name === undefined ? undefined : ERRNO[name];
    if (known) {
      const facts = { ...(sys.syscall ? { call: sys.syscall } : {}), ...(sys.path ? { file: String(sys.path) } : {}) };
      return new HgError(known, `the system answered ${name}`, { ...facts, ...where }, err);
    }
    return new HgError('HG_INTERNAL', String(message), where, err);
  }
  return new HgError('HG_INTERNAL', String(err), where);
}

/** Node has no name for some errno of Linux (EDQUOT: a quota is full); the number tells. */
function errnoName(err: NodeJS.ErrnoException): string | undefined {
  if (typeof err.code !== 'string' || !/^(UNKNOWN$|Unknown system error)/.test(err.code)) return err.code;
  return Object.entries(constants.errno).find(([, errno]) => errno === -(err.errno ?? 0))?.[0] ?? err.code;
}

export function faultRecord(err: unknown, where: Where = {}): FaultRecord {
  const hg = toHgError(err, where);
  return {
    code: hg.code,
    class: hg.class,
    message: hg.message,
    where: hg.where,
    retryable: hg.retryable,
    advice: hg.advice,
  };
}

/** The inverse of `faultRecord`; unknown codes (a newer peer) become HG_INTERNAL with the message kept. */
export function faultError(record: { code: string; message: string; where?: Where | undefined }): HgError {
  const code = isHgErrorCode(record.code) ? record.code : 'HG_INTERNAL';
  return new HgError(code, record.message, record.where ?? {});
}

/** One sentence for a person: message, facts, what to do. Control characters of foreign text are escaped. */
export function describeFault(fault: FaultRecord): string {
  const facts = Object.entries(fault.where).map(([key, value]) => `${key} ${value}`);
  const located = facts.length > 0 ? `${fault.message} (${facts.join(', ')})` : fault.message;
  return printable(`${located}. ${fault.advice}`);
}

/** Escapes control characters, so that a name or message from a bundle cannot drive a terminal. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (ch) => {
    return `\\x${ch.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
