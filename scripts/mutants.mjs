#!/usr/bin/env node
/**
 * `npm run mutants [-- AREA…]`: breaks each safety line of test/mutants.mjs in turn, in a copy of the tree, and runs the
 * specs that guard it. Each must turn red; one that stays green is named, and the exit code is 1.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutants } from '../test/mutants.mjs';

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
const areas = [...new Set(mutants.map((m) => m.area))];
const wanted = process.argv.slice(2);
if (wanted.includes('--help') || wanted.includes('-h')) {
  process.stdout.write(`usage: npm run mutants [-- AREA…]
  ${areas.map((a) => `${a} (${mutants.filter((m) => m.area === a).length})`).join(', ')}; all of them where none is named
  npm run mutants -- detect    each safety line of detection is broken in turn; a line \`ok\` says that a spec turned red
`);
  process.exit(0);
}
const unknown = wanted.filter((a) => !areas.includes(a));
if (unknown.length > 0) {
  process.stderr.write(`mutants: no area ${unknown.join(', ')}; there are ${areas.join(', ')}\n`);
  process.exit(2);
}
const chosen = mutants.filter((m) => wanted.length === 0 || wanted.includes(m.area));

const copy = mkdtempSync(join(tmpdir(), 'muster-mutants-'));
const ended = () => rmSync(copy, { recursive: true, force: true });
process.on('exit', ended);
process.on('SIGINT', () => process.exit(130));
for (const part of ['apps', 'libs', 'lab', 'sim', 'playbooks', 'package.json', 'jest.config.js'])
  cpSync(join(folder, part), join(copy, part), { recursive: true });
for (const part of ['node_modules', 'dist']) symlinkSync(join(folder, part), join(copy, part));

/** `red` is what we want: a spec ran, and failed by its own assertion. */
function outcomeOf(mutant) {
  let outcome = 'no specs ran';
  for (const spec of mutant.specs) {
    outcome = specUnder(spec);
    if (outcome !== 'green') break;
  }
  return outcome;
}

/** One at a time: at the first failure of several Jest goes before it has written its report. */
function specUnder(spec) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const jest = join(folder, 'node_modules', 'jest', 'bin', 'jest.js');
  // What a broken line leaves open must not hold the runner, and the first failure is enough.
  const ends = ['--forceExit', '--bail'];
  const args = ['--experimental-vm-modules', '--no-warnings', jest, ...ends, '--json', `--outputFile=${report}`];
  spawnSync(process.execPath, [...args, spec], { cwd: copy, stdio: 'ignore', timeout: 300_000 });
  if (!existsSync(report)) return 'the runner ended without a report';
  const result = JSON.parse(readFileSync(report, 'utf8'));
  if (result.numTotalTests === 0 || result.numRuntimeErrorTestSuites > 0) return 'no specs ran';
  return result.numFailedTests > 0 ? 'red' : 'green';
}

let killed = 0;
for (const mutant of chosen) {
  const file = join(copy, mutant.file);
  const text = readFileSync(file, 'utf8');
  const times = text.split(mutant.find).length - 1;
  let outcome = `"${mutant.find}" stands ${times} times in ${mutant.file}`;
  if (times === 1) {
    writeFileSync(
      file,
      text.replace(mutant.find, () => mutant.replace),
    );
    outcome = outcomeOf(mutant);
    writeFileSync(file, text);
  }
  if (outcome === 'red') killed += 1;
  process.stdout.write(`${outcome === 'red' ? 'ok  ' : 'FAIL'} ${mutant.area.padEnd(8)} ${mutant.name}`);
  process.stdout.write(outcome === 'red' ? '\n' : `: ${outcome}\n`);
}
process.stdout.write(`${killed} passed, ${chosen.length - killed} failed\n`);
process.exitCode = killed === chosen.length ? 0 : 1;
