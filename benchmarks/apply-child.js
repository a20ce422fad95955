/** The engine alone, in a process of its own: bundle, empty directory, settings as JSON. */
import { applyStreamBundle } from '@quicksilver/stream-clone';

const [path = '', root = '', settings = '{}'] = process.argv.slice(2);
const receipt = await applyStreamBundle({
  source: { kind: 'file', path },
  root,
  signal: new AbortController().signal,
  ...JSON.parse(settings),
});
console.log(JSON.stringify({ seconds: receipt.seconds, settings: receipt.settings }));
