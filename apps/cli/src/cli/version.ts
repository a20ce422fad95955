import { readFileSync } from 'node:fs';

/** From package.json, which lies beside `src` and `dist` alike. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const found = /"version":\s*"([^"]+)"/.exec(text)?.[1];
  return found ?? 'unknown';
}
