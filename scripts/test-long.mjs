#!/usr/bin/env node
/**
 * `npm run test:long [-- --only PART…] [--seed N] [--scenario NAME]… [--list]`: what takes minutes, one part after the
 * other. Each leaves docs/results/<part>.json: what ran, on which commit and machine, from which seed, and what came of
 * it; single scenarios, as after a mend, docs/results/scenarios-again.json, which keeps the last run of each. SIGINT and
 * SIGTERM end the part that runs, whose file has what came of it so far, and `interrupted`; no other part follows. The
 * last line is `N passed, N failed` over all; exit 0 only when nothing failed, 2 for a wrong option.
 */
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { folder } from './setup/run.mjs';
import { earlierRuns } from './tests/earlier-runs.mjs';
import { interruptedBy, lastSaid, node, scenarios, specs, summary, waitOnInterrupt } from './tests/children.mjs';
import { simulate } from './tests/histories.mjs';

/** Of detection, and of the hands, in virtual time. */
const HISTORIES = 100_000;
const HANDS_HISTORIES = 2_000;
const FLEET_HISTORIES = 20_000;
/** Of the crash points of a named history of the whole plane: there are some 170,000. */
const FLEET_EVERY = 100;
/** How much more of each than in `npm test`: what only computes, and what waits for real processes. */
const PROPERTIES_FACTOR = 20;
const HISTORIES_FACTOR = 5;

/** Name → what it is, and how it runs: resolves with how many passed and failed, and a `result` for its file. */
const parts = {
  'long-specs': {
    title: 'the specs that are named *.long.spec.ts',
    run: (seed) => vitest(['--config', 'vitest.long.config.js', '--passWithNoTests'], { MUSTER_SEED: seed }),
  },
  properties: {
    title: `properties that compute, ${PROPERTIES_FACTOR} times as many runs as in npm test`,
    run: (seed) => drawing((text) => !onRealServer(text), seed, PROPERTIES_FACTOR),
  },
  histories: {
    title: `random histories on a real nats-server, ${HISTORIES_FACTOR} times as long as in npm test`,
    run: (seed) => drawing(onRealServer, seed, HISTORIES_FACTOR),
  },
  'sim-detect': { title: `${HISTORIES} histories of detection in virtual time`, run: detection },
  'sim-hands': {
    title: `${HANDS_HISTORIES} histories of fencers and provisioners in virtual time, and each named one with a crash at every point`,
    run: (seed) => both('hands', HANDS_HISTORIES, 1, seed),
  },
  'sim-fleet': {
    title: `${FLEET_HISTORIES} histories of the whole plane in virtual time`,
    run: (seed) => random('fleet', FLEET_HISTORIES, seed),
  },
  'sweep-fleet': {
    title: `each named history of the whole plane with a crash at every ${FLEET_EVERY}th point`,
    run: (seed) => sweeps('fleet', FLEET_EVERY, seed),
  },
  quickstart: { title: 'the code blocks of README.md and docs/install.md, as they stand there', run: quickstart },
  scenarios: { title: 'the long scenarios in the lab', run: () => longScenarios(scenario) },
};

async function vitest(options, env) {
  const { report, unsteady, ...counts } = await specs(options, { env, again: true });
  const files = (report?.testResults ?? []).map((f) => ({
    file: relative(folder, f.name),
    seconds: Math.round((f.endTime - f.startTime) / 100) / 10,
    tests: f.assertionResults.map((t) => ({ title: t.fullName, status: t.status })),
    ...(f.message !== '' && { message: f.message }),
  }));
  return { ...counts, unsteady, result: { files, unsteady } };
}

/** The specs that draw from the seed and that `fits` takes. */
function drawing(fits, seed, factor) {
  const files = ['apps', 'libs', 'lab', 'sim']
    .flatMap((top) => readdirSync(join(folder, top), { recursive: true, encoding: 'utf8' }).map((f) => join(top, f)))
    .filter((file) => /(?<!\.long)\.spec\.ts$/.test(file))
    .filter((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return /fast-check|testing\/chance\.js/.test(text) && fits(text);
    });
  return vitest(files, { MUSTER_SEED: seed, MUSTER_RUNS_FACTOR: String(factor) });
}

const onRealServer = (text) => /startTestNats|RunningInventory|GatewayUnderTest|ServedFleet/.test(text);

async function detection(seed) {
  const { good, said } = await simulation('detect', '--histories', String(HISTORIES), '--seed', seed);
  // Commit and seed are those of the whole run.
  const { commit: _c, seed: _s, ...result } = said;
  return { ...one(good), result };
}

const one = (good) => ({ passed: good ? 1 : 0, failed: good ? 0 : 1, skipped: 0 });

async function random(name, histories, seed) {
  const { good, said } = await simulation(name, '--histories', String(histories), '--seed', seed);
  return { ...one(good), result: { random: said } };
}

/** The named ones with crashes: each run plays other crash points than the one before. */
async function sweeps(name, every, seed) {
  const from = Number(seed) % every;
  const { good, said } = await simulation(name, '--sweep', 'all', '--every', String(every), '--from', String(from));
  return { ...one(good), result: { sweeps: { every, from, ...said } } };
}

async function both(name, histories, every, seed) {
  const [drawn, swept] = [await random(name, histories, seed), await sweeps(name, every, seed)];
  return {
    passed: drawn.passed + swept.passed,
    failed: drawn.failed + swept.failed,
    skipped: 0,
    result: { ...drawn.result, ...swept.result },
  };
}

/** Its last line, and whether it broke no rule. */
async function simulation(...args) {
  const { code, said } = await simulate(...args);
  return { good: code === 0 && said.violations?.length === 0, said };
}

async function quickstart() {
  const { text } = await node([join('dist', 'test', 'src', 'run-quickstart.js'), '--json'], { read: true });
  // Without them it has ended before its end.
  const { passed = 0, failed = 1, skipped = 0, ...result } = lastSaid(text);
  return { passed, failed, skipped, result };
}

/** Of the daily ones those whose result is kept as well. */
const KEPT_OF_DAILY = ['F29', 'V15'];

async function longScenarios(wanted = ['long', ...KEPT_OF_DAILY]) {
  const { each, ...counts } = await scenarios(...wanted);
  return { ...counts, result: { scenarios: each } };
}

/** What a file of results says; undefined: there is none. */
function lastOf(file) {
  const path = join(folder, file);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

function wrong(text) {
  process.stderr.write(`test:long: ${text}\n`);
  process.exit(2);
}

function read() {
  try {
    const flag = { type: 'boolean' };
    const options = {
      only: flag,
      seed: { type: 'string' },
      scenario: { type: 'string', multiple: true },
      list: flag,
      help: { ...flag, short: 'h' },
    };
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const unknown = positionals.filter((name) => !(name in parts));
    if (unknown.length > 0) wrong(`no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);
    if ((values.only === true) !== positionals.length > 0) wrong('--only takes the names of parts, and names need it');
    if (values.scenario && positionals.join() !== 'scenarios') wrong('--scenario goes with --only scenarios');
    if (values.seed !== undefined && !/^\d+$/.test(values.seed)) wrong('--seed takes a whole number');
    return { names: positionals.length > 0 ? positionals : Object.keys(parts), ...values };
  } catch (error) {
    return wrong(error.message);
  }
}

const { names, seed = String(randomInt(2 ** 31)), scenario, list, help } = read();
if (help) {
  process.stdout.write(`usage: npm run test:long [-- --only PART…] [--seed N] [--list]
  npm run test:long -- --list                      the parts
  npm run test:long -- --only properties --seed 7  one part, its failure again; leaves docs/results/properties.json
  npm run test:long -- --only scenarios --scenario D10.6     a scenario again; leaves docs/results/scenarios-again.json
`);
  process.exit(0);
}
if (list) {
  for (const [name, { title }] of Object.entries(parts)) process.stdout.write(`${name.padEnd(12)}${title}\n`);
  process.exit(0);
}

waitOnInterrupt();
// Built by the set-up, which runs before this.
const { describeMachine } = await import('../dist/bench/src/machine.js');
const { describeCommit } = await import('../dist/bench/src/commit.js');
const { commit, dirty } = describeCommit();
process.stdout.write(`test:long: seed ${seed}, commit ${commit}${dirty ? ' with changes' : ''}\n`);
const outcomes = [];
for (const [i, name] of names.entries()) {
  const { title, run } = parts[name];
  process.stdout.write(`test:long: ${i + 1} of ${names.length}, ${name}: ${title}\n`);
  const date = new Date();
  const { result, ...counts } = await run(seed);
  const seconds = Math.round((Date.now() - date.getTime()) / 1000);
  outcomes.push(counts);
  const { passed, failed, skipped } = counts;
  const told = {
    name,
    commit,
    dirty,
    date: date.toISOString(),
    machine: describeMachine(),
    seed: Number(seed),
    seconds,
    ...(interruptedBy() !== undefined && { interrupted: interruptedBy() }),
  };
  const file = join('docs', 'results', `${scenario ? `${name}-again` : name}.json`);
  mkdirSync(join(folder, 'docs', 'results'), { recursive: true });
  const earlier = scenario && { earlier: earlierRuns(lastOf(file), result.scenarios) };
  writeFileSync(
    join(folder, file),
    `${JSON.stringify({ ...told, passed, failed, skipped, ...result, ...earlier }, undefined, 2)}\n`,
  );
  process.stdout.write(`test:long: ${name}: ${passed} passed, ${failed} failed in ${seconds} s; see ${file}\n`);
  if (interruptedBy() !== undefined) {
    process.stdout.write(
      `test:long: ${interruptedBy()}: not run are ${names.slice(i + 1).join(', ') || 'no more parts'}\n`,
    );
    break;
  }
}
const { lines, failed } = summary(outcomes);
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = failed === 0 && interruptedBy() === undefined ? 0 : 1;
