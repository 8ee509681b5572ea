#!/usr/bin/env node
/**
 * All tests: the specs (jest, beside the code), then the scenarios in the lab. Options after `--` go to jest, and then
 * only the specs run. The last line is `N passed, N failed` over both (and `, N skipped` where this machine
 * cannot do one); exit 0 only when nothing failed.
 */
import { scenarios, specs, summary, waitOnInterrupt } from './tests/children.mjs';

waitOnInterrupt();
const options = process.argv.slice(2);
const outcomes = [await specs(options)];
if (options.length === 0) outcomes.push(await scenarios('all'));
const { line, failed } = summary(outcomes);
process.stdout.write(`${line}\n`);
process.exitCode = failed === 0 ? 0 : 1;
