import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { stringify } from 'yaml';
import { describeCommit } from '../../bench/src/commit.js';
import { describeMachine } from '../../bench/src/machine.js';
import { makeBaseImages } from './compose/base-images.js';
import type { Check, Scene } from './compose/check.js';
import { checks, selectChecks } from './compose/checks.js';
import { Composition } from './compose/composition.js';
import { ControlMachine } from './compose/control-machine.js';
import { Engine, whyNoEngine } from './compose/engine.js';
import { ControlHosts } from './compose/hosts/control-hosts.js';
import { Interruption } from './compose/interruption.js';
import { LabHosts } from './compose/lab-hosts.js';
import { Station } from './compose/station.js';

const USAGE = `usage: npm run test:compose [-- --only CHECK … --fresh]
  An engine of its own, base images from Debian's packages, the composition of this commit from a clean checkout, and
  what docs/compose.md says of it, checked. Leaves docs/results/compose.json, where all checks ran. As root.
  SIGINT and SIGTERM end it, with all that it has started.
  --only CHECK …  these checks, and those whose scene they are played on: ${checks.map(({ name }) => name).join(', ')}
  --fresh         without the images and layers of earlier runs`;

const root = fileURLToPath(new URL('../../..', import.meta.url));
/** Kept between runs: the engine's images. */
const work = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'muster', 'compose');
const project = 'muster-test';

const say = (line: string): void => void process.stdout.write(`test:compose: ${line}\n`);
const text = (e: unknown): string => (e instanceof Error ? e.message : String(e));

interface Result {
  name: string;
  title: string;
  ok: boolean;
  seconds: number;
  seen: string;
}

interface Options {
  fresh: boolean;
  selected: readonly Check[];
}

function options(): Options | undefined {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        fresh: { type: 'boolean' },
        only: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (positionals.length > 0 && values.only === undefined) throw new Error(`unexpected: ${positionals.join(' ')}`);
    const selected = selectChecks(checks, [...(values.only ?? []), ...positionals]);
    if (values.help !== true) return { fresh: values.fresh === true, selected };
    process.stdout.write(`${USAGE}\n`);
  } catch (e) {
    process.stderr.write(`test:compose: ${text(e)}\n${USAGE}\n`);
    process.exitCode = 2;
  }
  return undefined;
}

/** What is committed, and nothing else: no build, no packages, no configuration. */
async function cleanCheckout(to: string): Promise<void> {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  const packed = `${to}.tar`;
  await execa('git', ['archive', '-o', packed, 'HEAD'], { cwd: root });
  await execa('tar', ['-x', '-C', to, '-f', packed]);
  rmSync(packed);
}

/** @returns their file */
async function keepLogs(name: string, { composition, demo, controlHosts }: Scene): Promise<string> {
  const file = join(work, 'failed', `${name}.log`);
  mkdirSync(dirname(file), { recursive: true });
  const compositions = [composition, demo, ...controlHosts.running().map((host) => host.composition)];
  const logs = await Promise.all(compositions.map((one) => one.run(['logs', '--no-color', '--timestamps'])));
  writeFileSync(file, logs.map(({ stdout, stderr }) => `${stdout}\n${stderr}\n`).join(''));
  return file;
}

async function runChecks(selected: readonly Check[], scene: Scene, interruption: Interruption): Promise<Result[]> {
  const results: Result[] = [];
  for (const { name, title, run } of selected) {
    interruption.check();
    const since = performance.now();
    const result = await run(scene).then(
      (seen) => ({ ok: true, seen }),
      (e: unknown) => ({ ok: false, seen: text(e) }),
    );
    const seconds = Math.round((performance.now() - since) / 100) / 10;
    results.push({ name, title, seconds, ...result });
    say(`${result.ok ? 'ok  ' : 'FAIL'} ${title} (${seconds} s): ${result.seen}`);
    if (!result.ok) say(`     what the services have logged is in ${await keepLogs(name, scene)}`);
  }
  return results;
}

async function testCompose(selected: readonly Check[]): Promise<Result[]> {
  const checkout = join(work, 'checkout');
  const machine = new ControlMachine();
  const builder = new Engine(join(work, 'engine'));
  const engine = new Engine(join(work, 'engine'), { enter: machine.to('machine') });
  const station = new Station(machine, join(work, 'station'));
  const composition = Composition.forOperator(engine, checkout, project);
  const demo = Composition.forDemo(engine, checkout);
  const hosts = new LabHosts(machine, root, work);
  const controlHosts = new ControlHosts(root, checkout, join(work, 'hosts'));
  const interruption = new Interruption({ signals: process, say, end: (code) => process.exit(code) });
  interruption.tidiesBy([
    () => builder.stop(),
    async () => machine.isThere && (await hosts.remove()),
    () => controlHosts.remove(),
    () => station.stop(),
    () => engine.stop(),
    () => machine.remove(),
  ]);
  await cleanCheckout(checkout);
  // Services of one's own, as docs/compose.md says.
  const services = { provisioner: { volumes: ['./lab/services:/etc/muster/services:ro'] } };
  writeFileSync(join(checkout, 'docker-compose.override.yml'), stringify({ services }));
  try {
    interruption.check();
    await builder.start();
    say('base images');
    await makeBaseImages(builder, work, root);
    // Of an earlier run that was ended in the middle.
    await composition.downAll();
    await demo.downAll();
    say('images of the services');
    await composition.done('build');
    await composition.done('--profile', 'tools', 'build', 'init');
    await demo.done('build', 'demo');
    await builder.stop();
    interruption.check();
    // From here on the machine has no way out, and nobody else's ports.
    await machine.make();
    interruption.check();
    await engine.start();
    const scene = { machine, composition, demo, controlHosts, station, hosts, root, token: '' };
    const results = await runChecks(selected, scene, interruption);
    await composition.downAll();
    await demo.downAll();
    return results;
  } finally {
    if (!(await interruption.tidy())) process.exitCode = 1;
  }
}

async function main(): Promise<void> {
  const o = options();
  if (o === undefined) return;
  const why = whyNoEngine();
  if (why !== undefined) {
    say(`skipped: ${why}`);
    process.stdout.write('0 passed, 0 failed, 1 skipped\n');
    return;
  }
  if (o.fresh) rmSync(work, { recursive: true, force: true });
  const { commit, dirty } = describeCommit();
  const date = new Date();
  say(`commit ${commit}${dirty ? ' (what is not committed is not tested)' : ''}`);
  const results = await testCompose(o.selected);
  const [passed, failed] = [true, false].map((ok) => results.filter((r) => r.ok === ok).length);
  const told = { name: 'compose', commit, dirty, date: date.toISOString(), machine: describeMachine() };
  const seconds = Math.round((Date.now() - date.getTime()) / 1000);
  if (o.selected.length === checks.length) {
    mkdirSync(join(root, 'docs', 'results'), { recursive: true });
    writeFileSync(
      join(root, 'docs', 'results', 'compose.json'),
      `${JSON.stringify({ ...told, seconds, passed, failed, checks: results }, undefined, 2)}\n`,
    );
  }
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  if (failed !== 0) process.exitCode = 1;
}

try {
  await main();
} catch (e) {
  process.stderr.write(`test:compose: ${text(e)}\n`);
  process.exitCode = 1;
}
