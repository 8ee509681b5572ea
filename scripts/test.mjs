#!/usr/bin/env node
/**
 * All tests: the specs (vitest, beside the code), then the scenarios in the lab. Options after `--` go to vitest, and then
 * only the specs run. At the end it says where the time went, and which specs are unsteady. The last line is `N passed, N failed` over both (and
 * `, N skipped` where this machine cannot do one); exit 0 only when nothing failed.
 */
import { interruptedBy, scenarios, specs, summary, waitOnInterrupt } from './tests/children.mjs';
import { slowest } from './tests/slowest.mjs';

waitOnInterrupt();
const options = process.argv.slice(2);
const began = performance.now();
const outcomes = [await specs(options, { again: options.length === 0 })];
const between = performance.now();
const times = [{ ...outcomes[0], what: 'specs', seconds: (between - began) / 1000 }];
if (options.length === 0 && interruptedBy() === undefined) {
  outcomes.push(await scenarios('all'));
  times.push({ ...outcomes[1], what: 'scenarios', seconds: (performance.now() - between) / 1000 });
}
for (const line of slowest(times)) process.stdout.write(`${line}\n`);
const { lines, failed } = summary(outcomes);
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = failed === 0 ? 0 : 1;
