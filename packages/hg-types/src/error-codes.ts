/** Who can do something about a fault (what users see as the failure's class). */
export type FaultClass =
  | 'format'
  | 'source'
  | 'network'
  | 'storage'
  | 'memory'
  | 'policy'
  | 'lane'
  | 'cancelled'
  | 'bug';

interface CodeFacts {
  readonly class: FaultClass;
  /** True when the same attempt may succeed later without anyone changing anything. */
  readonly retryable: boolean;
  /** One sentence: what to do next. */
  readonly advice: string;
}

/** Every code, with what it means for the person who reads it. The set is closed: add here, nowhere else. */
export const ERROR_CODES = {
  HG_TRUNCATED: {
    class: 'format',
    retryable: false,
    advice: 'The input ends too early: fetch or write the bundle again and compare its size and digest.',
  },
  HG_CORRUPT: {
    class: 'format',
    retryable: false,
    advice: 'The input is damaged: make the bundle again at the source, then run "hg verify" there.',
  },
  HG_LIMIT: {
    class: 'format',
    retryable: false,
    advice: 'The input asks for more than the limits allow: check where it comes from before raising a limit.',
  },
  HG_NOT_BUNDLE: {
    class: 'format',
    retryable: false,
    advice: 'This is not a Mercurial bundle: check the address or path; "hg bundle" makes one.',
  },
  HG_UNSUPPORTED: {
    class: 'format',
    retryable: false,
    advice: 'The input needs a feature that is not known here: write it again in another format.',
  },
  HG_NOT_YET: {
    class: 'format',
    retryable: false,
    advice: "Not supported yet: give a stream bundle instead; hg bundle -a -t 'none-v2;stream=v2' FILE makes one.",
  },
  HG_UNSAFE_NAME: {
    class: 'format',
    retryable: false,
    advice: 'The input names a file that a repository must not hold: do not trust this source.',
  },
  HG_REMOTE_ABORT: {
    class: 'source',
    retryable: false,
    advice: 'The program that wrote the bundle reported a failure in it: make the bundle again.',
  },
  HG_NOT_FOUND: { class: 'source', retryable: false, advice: 'Check that the path exists and can be read here.' },
  HG_SOURCE_CHANGED: {
    class: 'source',
    retryable: true,
    advice: 'The source changed while it was read: start again once it is complete.',
  },
  HG_SOURCE_GONE: {
    class: 'source',
    retryable: false,
    advice: 'There is nothing at this address any more: check it, or give the mirror another source.',
  },
  HG_SOURCE_DENIED: {
    class: 'source',
    retryable: false,
    advice: 'The source does not let this client in: check its permissions, or ask for a fresh address.',
  },
  HG_SOURCE_BUSY: {
    class: 'source',
    retryable: false,
    advice: 'The source asks to be left alone for longer than a task waits: clone again after that time.',
  },
  HG_REDIRECT: {
    class: 'source',
    retryable: false,
    advice: 'The source leads elsewhere in a way that cannot be followed: give the address it should end at.',
  },
  HG_DIGEST: {
    class: 'source',
    retryable: false,
    advice: 'The bundle is not the one that was announced: do not use it before you know why it was changed.',
  },
  HG_NETWORK: {
    class: 'network',
    retryable: true,
    advice: 'It is tried again; what has arrived is kept.',
  },
  HG_UNREACHABLE: {
    class: 'network',
    retryable: false,
    advice: 'The network or the server failed on every try: check both, then clone again.',
  },
  HG_HOST_UNKNOWN: {
    class: 'network',
    retryable: false,
    advice: "Check the spelling of the host's name and the name servers of this machine.",
  },
  HG_TLS: {
    class: 'network',
    retryable: false,
    advice: "Check the server's certificate; NODE_EXTRA_CA_CERTS=FILE adds an authority of your own.",
  },
  HG_UNPROVED: {
    class: 'format',
    retryable: false,
    advice: 'What was written did not pass its proof and was not published: make the bundle again.',
  },
  HG_NO_SPACE: {
    class: 'storage',
    retryable: false,
    advice: 'The volume is full: free room on it, or give the mirror another volume, then clone again.',
  },
  HG_FILE_LIMIT: {
    class: 'storage',
    retryable: false,
    advice:
      'A file passed the size limit of the process or file system: raise the limit (ulimit -f), then clone again.',
  },
  HG_IO: { class: 'storage', retryable: true, advice: 'The disk reported an error: check the volume and its log.' },
  HG_READ_ONLY: {
    class: 'storage',
    retryable: false,
    advice: 'The target cannot be written: check its mount, owner and mode.',
  },
  HG_TARGET_GONE: {
    class: 'storage',
    retryable: false,
    advice: 'The target was moved or removed while it was written: see whether a later attempt has taken over.',
  },
  HG_TOO_MANY_FILES: {
    class: 'storage',
    retryable: true,
    advice: 'The process ran out of file handles: raise the limit (ulimit -n) or lower the number of writers.',
  },
  HG_EXISTS: {
    class: 'policy',
    retryable: false,
    advice: 'The destination exists already: choose another, or remove it first.',
  },
  HG_POLICY: { class: 'policy', retryable: false, advice: 'The configuration of this service does not allow it.' },
  HG_USAGE: { class: 'policy', retryable: false, advice: 'Correct the request: see --help or the API page.' },
  HG_FENCED: {
    class: 'lane',
    retryable: false,
    advice: 'A later attempt has taken over this mirror: look at that task instead.',
  },
  HG_LOCKED: {
    class: 'lane',
    retryable: true,
    advice: 'The mirror is locked by another process: it is tried again; the holder is named above.',
  },
  HG_CANCELLED: { class: 'cancelled', retryable: false, advice: 'It was cancelled; ask for it again when wanted.' },
  HG_WORKER_LOST: {
    class: 'memory',
    retryable: true,
    advice: 'The engine process ended without a word, often for want of memory: lower concurrency or memory target.',
  },
  HG_MEMORY: {
    class: 'memory',
    retryable: true,
    advice: 'Memory ran out: lower the memory target or the concurrency of this host.',
  },
  HG_CLOSED: { class: 'bug', retryable: false, advice: 'Please report this: something was used after it was closed.' },
  HG_INTERNAL: { class: 'bug', retryable: true, advice: 'Please report this with the log of the task.' },
} as const satisfies Record<string, CodeFacts>;

export type HgErrorCode = keyof typeof ERROR_CODES;

export function isHgErrorCode(code: unknown): code is HgErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);
}

/** The facts of a code, typed by the interface rather than by the literal. */
export function codeFacts(code: HgErrorCode): CodeFacts {
  return ERROR_CODES[code];
}
