import { auditStreamName, directoryEncode, encodeStorePath, type StreamNameKind } from '@quicksilver/store';

/** What is known of a revlog's name. */
export interface StorePath {
  readonly kind: StreamNameKind;
  /** Below `.hg/store`, as it is spelled on disk. */
  readonly directory: string;
  readonly base: string;
  /** As fncache lists it, in the same two parts. */
  readonly listedDirectory: string;
  readonly listedBase: string;
}

/** Stands for any plain revlog in a directory. */
const PLAIN = 'a.i';
/** Longer paths are hashed as a whole. */
const MAX_PLAIN_PATH = 120;

/**
 * Audits and encodes store names. A stream is sorted, so most files lie in the directory of the one before; all rules
 * for paths that are not hashed work by component, so what was found out for a directory holds for the next file too,
 * and only its last component is looked at.
 */
export class StorePaths {
  #directory = '';
  #listed = '';
  /** Ends with a slash; empty where paths are hashed. */
  #encoded = '';

  plan(name: string): StorePath {
    const cut = name.lastIndexOf('/') + 1;
    const base = name.slice(cut);
    if (cut === 0 || !(base.endsWith('.i') || base.endsWith('.d'))) return whole(name);
    const directory = name.slice(0, cut);
    if (directory !== this.#directory) {
      // An error names the file that has it, so the first of a directory is looked at as a whole.
      const first = whole(name);
      const sample = encodeStorePath(directory + PLAIN, 'dotencode');
      this.#encoded = sample.endsWith(`/${PLAIN}`) ? sample.slice(0, -PLAIN.length) : '';
      this.#listed = directoryEncode(directory);
      this.#directory = directory;
      return first;
    }
    if (this.#encoded === '') return whole(name);
    const alone = `data/${base}`;
    auditStreamName('s', alone);
    const path = encodeStorePath(alone, 'dotencode');
    if (!path.startsWith('data/')) return whole(name); // so long that it is hashed even alone
    const spelled = path.slice('data/'.length);
    if (this.#encoded.length + spelled.length > MAX_PLAIN_PATH) return whole(name);
    return {
      kind: 'revlog',
      directory: this.#encoded,
      base: spelled,
      listedDirectory: this.#listed,
      listedBase: base,
    };
  }
}

function whole(name: string): StorePath {
  const kind = auditStreamName('s', name);
  const path = encodeStorePath(name, 'dotencode');
  const cut = path.lastIndexOf('/') + 1;
  return {
    kind,
    directory: path.slice(0, cut),
    base: path.slice(cut),
    listedDirectory: '',
    listedBase: directoryEncode(name),
  };
}
