import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// Before anything else is loaded: what was compiled once is kept beside the sources, in a folder that git ignores. Where
// that cannot be written, nothing is kept and nothing is said.
enableCompileCache(fileURLToPath(new URL('../../../.cache/compiled', import.meta.url)));
await import('./command-line.ts');
