#!/usr/bin/env node
/**
 * All tests: the specs (vitest, beside the code), then random histories of the whole plane in virtual time, then the
 * scenarios in the lab: one after the other, since specs and scenarios are timed. Options after `--` go to vitest, and
 * then only the specs run. At the end it says where the time went, and which specs are unsteady. The last line is
 * `N passed, N failed` over all (and `, N skipped` where this machine cannot do one); exit 0 only when nothing failed.
 */
import { freshPageUs, isDear } from './tests/fresh-memory.mjs';
import { interruptedBy, scenarios, specs, summary, waitOnInterrupt } from './tests/children.mjs';
import { histories } from './tests/histories.mjs';
import { slowest } from './tests/slowest.mjs';

/** Of the whole plane: at most a minute. */
const FLEET_HISTORIES = 200;

waitOnInterrupt();
const options = process.argv.slice(2);
const steps = [['specs', () => specs(options, { again: options.length === 0 })]];
if (options.length === 0) steps.push(['histories', fleetHistories], ['scenarios', labScenarios]);
const outcomes = [];
for (const [what, run] of steps) {
  if (interruptedBy() !== undefined) break;
  const began = performance.now();
  const outcome = await run();
  outcomes.push({ ...outcome, what, seconds: (performance.now() - began) / 1000 });
}
for (const line of slowest(outcomes)) process.stdout.write(`${line}\n`);
const { lines, failed } = summary(outcomes);
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = failed === 0 ? 0 : 1;

function labScenarios() {
  const us = freshPageUs();
  if (!isDear(us)) return scenarios('all');
  process.stdout.write(`scenarios: fleet after fleet: a fresh page of memory costs this machine ${us.toFixed(0)} µs\n`);
  return scenarios('all', '--apart');
}

async function fleetHistories() {
  // Built by the set-up, which runs before this.
  const { runs, SEED } = await import('../dist/libs/contracts/src/testing/chance.js');
  const outcome = await histories('fleet', runs(FLEET_HISTORIES), SEED);
  for (const line of outcome.lines) process.stdout.write(`histories: ${line}\n`);
  return outcome;
}
