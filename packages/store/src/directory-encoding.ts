/**
 * Directory encoding keeps a directory `x.i/` apart from the revlog `x.i`: `.hg`, `.i` and `.d` at the end of a
 * directory get `.hg` appended. It is part of every store encoding and the form in which fncache holds names.
 */
export function directoryEncode(name: string): string {
  return name.replace(/\.(hg|i|d)\//g, '.$1.hg/');
}

/** The inverse of `directoryEncode`. */
export function directoryDecode(name: string): string {
  return name.replace(/\.(hg|i|d)\.hg\//g, '.$1/');
}
