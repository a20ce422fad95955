/** Facts that locate a fault: file, offset, part, limit. Never credentials. */
export type Where = Readonly<Record<string, string | number>>;

/**
 * The base of every error that this repository raises on purpose. Match on `code`, never on the message or on
 * `instanceof`: an error that crossed a thread or a process is another class with the same code.
 */
export class CodedError<Code extends string = string> extends Error {
  override readonly name: string = 'CodedError';
  readonly code: Code;
  readonly where: Where;

  constructor(code: Code, message: string, where: Where = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.where = where;
  }
}

/** What reading bytes can find wrong, before anyone knows what the bytes mean. */
export type BytesErrorCode = 'HG_TRUNCATED' | 'HG_CORRUPT' | 'HG_LIMIT';
