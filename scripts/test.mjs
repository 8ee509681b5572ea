#!/usr/bin/env node
/**
 * All tests: the specs (vitest, beside the code) and the scenarios in the lab. What is timed in the lab has the machine for
 * itself; then the specs run beside the rest of the scenarios. Options after `--` go to vitest, and then only the specs
 * run. At the end it says where the time went, and which specs are unsteady. The last line is `N passed, N failed` over
 * both (and `, N skipped` where this machine cannot do one); exit 0 only when nothing failed.
 */
import { scenarios, specs, summary, waitOnInterrupt } from './tests/children.mjs';
import { slowest } from './tests/slowest.mjs';

waitOnInterrupt();
const options = process.argv.slice(2);
const times = options.length > 0 ? [await timed('specs', specs(options))] : await everything();
for (const line of slowest(times)) process.stdout.write(`${line}\n`);
const { lines, failed } = summary(times);
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function everything() {
  let timeIsTaken;
  const taken = new Promise((resolve) => (timeIsTaken = resolve));
  const lab = timed('scenarios', scenarios(['all'], { label: 'lab | ', onMessage: timeIsTaken }));
  // Where the lab ends before it has timed anything, nothing is left to wait for.
  await Promise.race([taken, lab]);
  return await Promise.all([timed('specs', specs([], { again: true, beside: lab })), lab]);
}

async function timed(what, work) {
  const began = performance.now();
  const outcome = await work;
  return { ...outcome, what, seconds: (performance.now() - began) / 1000 };
}
