// Prints the closing line of script/test from jest's JSON and exits with what it says.
//   node test-summary.mjs RESULT.json JEST-STATUS [FAILED-CHECK...]
import { readFileSync } from 'node:fs';

const [file, status, ...failedChecks] = process.argv.slice(2);

/** A run that died without a result is one failure, so that it never reads as success. */
function read() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

const result = read();
const passed = result?.numPassedTests ?? 0;
const skipped = (result?.numPendingTests ?? 0) + (result?.numTodoTests ?? 0);
// A suite that could not be run (a broken import) has no failed test of its own.
let failed = (result?.numFailedTests ?? 0) + (result?.numRuntimeErrorTestSuites ?? 0) + failedChecks.length;
if (failed === failedChecks.length && (status !== '0' || !result)) failed += 1;

for (const suite of result?.testResults ?? []) {
  for (const test of suite.assertionResults ?? []) {
    if (test.status === 'failed') console.log(`failed: ${test.fullName}`);
  }
  if (suite.status === 'failed' && suite.assertionResults?.length === 0) console.log(`failed to run: ${suite.name}`);
}
for (const check of failedChecks) console.log(`failed check: ${check}`);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
