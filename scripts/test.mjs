#!/usr/bin/env node
/**
 * All tests: the specs (jest, beside the code), then the scenarios in the lab. Options after `--` go to jest, and then
 * only the specs run. The last line is `N passed, N failed` over both (and `, N skipped` where this machine
 * cannot do one); exit 0 only when nothing failed.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
const total = { passed: 0, failed: 0, skipped: 0 };

/** The child shares our process group: an interrupt from the terminal reaches it, and we wait for its tidying up. */
process.on('SIGINT', () => {});

function node(args, onText) {
  return new Promise((resolve) => {
    const stdio = ['inherit', onText === undefined ? 'inherit' : 'pipe', 'inherit'];
    const child = spawn(process.execPath, args, { cwd: folder, stdio });
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      process.stdout.write(text);
      onText(text);
    });
    child.on('error', (error) => {
      process.stderr.write(`${error.message}\n`);
      resolve(1);
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
}

async function specs(options) {
  const dir = mkdtempSync(join(tmpdir(), 'muster-test-'));
  const report = join(dir, 'jest.json');
  const jest = join('node_modules', 'jest', 'bin', 'jest.js');
  const args = ['--experimental-vm-modules', '--no-warnings', jest, '--json', `--outputFile=${report}`, ...options];
  try {
    const code = await node(args);
    const result = JSON.parse(readFileSync(report, 'utf8'));
    const unrunnable = result.numRuntimeErrorTestSuites;
    add(result.numPassedTests, result.numFailedTests + unrunnable, code);
  } catch (error) {
    process.stderr.write(`specs: no result (${error.message})\n`);
    total.failed += 1;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function scenarios() {
  let text = '';
  const code = await node([join('dist', 'test', 'src', 'run-scenario.js'), 'all'], (more) => (text += more));
  const counted = [...text.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1);
  if (counted === undefined) process.stderr.write('scenarios: no result\n');
  add(Number(counted?.[1] ?? 0), Number(counted?.[2] ?? 0), code);
  total.skipped += Number(counted?.[3] ?? 0);
}

/** A run that ended badly counts as a failure, also where it named none. */
function add(passed, failed, code) {
  total.passed += passed;
  total.failed += failed === 0 && code !== 0 ? 1 : failed;
}

const options = process.argv.slice(2);
await specs(options);
if (options.length === 0) await scenarios();
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : '';
process.stdout.write(`${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exitCode = total.failed === 0 ? 0 : 1;
