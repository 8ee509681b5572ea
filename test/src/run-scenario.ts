import { performance } from 'node:perf_hooks';
import { MusterError } from '#contracts';
import type { Fleet } from '../../lab/src/fleet/fleet.js';
import { withFleet } from '../../lab/src/fleet/with-fleet.js';
import { bestMode, whyNoNamespaces } from '../../lab/src/mode.js';
import { Quiet } from './quiet.js';
import type { Scenario } from './scenario.js';
import { faults, operations } from './scenarios/index.js';

const scenarios: readonly Scenario[] = [...faults, ...operations];

const USAGE = `usage: npm run scenario -- all | NAME… [--list]
  npm run scenario -- D1        one scenario, on a fleet of its own
  npm run scenario -- F1 F19    several, on one fleet that is healed between them; operations (O…, D23) on another`;

const NODES = 5;
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function chosen(args: string[]): readonly Scenario[] {
  const unknown = args.filter((a) => a !== 'all' && !scenarios.some((s) => s.name === a));
  if (args.length === 0 || unknown.length > 0)
    throw new MusterError('BAD_REQUEST', unknown.length > 0 ? `no scenario ${unknown.join(', ')}\n${USAGE}` : USAGE);
  return args.includes('all') ? scenarios : scenarios.filter((s) => args.includes(s.name));
}

/** One scenario, then the healing, then the audit: each can fail it. */
async function runOne(fleet: Fleet, scenario: Scenario): Promise<boolean> {
  const since = performance.now();
  const figures: string[] = [];
  let failure: string | undefined;
  try {
    await scenario.run(fleet, (f) => figures.push(f));
  } catch (e) {
    failure = e instanceof Error ? e.message : String(e);
  }
  const tested = seconds(since);
  const healing = performance.now();
  try {
    await fleet.heal();
    const audit = await fleet.audit();
    if (!audit.ok) failure ??= audit.violations.map((v) => `${v.kind} ${v.subject}: ${v.detail}`).join('; ');
  } catch (e) {
    failure ??= `did not heal: ${e instanceof Error ? e.message : String(e)}`;
  }
  say(`${failure === undefined ? 'ok  ' : 'FAIL'} ${scenario.name.padEnd(4)} ${scenario.title}`);
  say(`     ${tested}, healed and audited in ${seconds(healing)}${figures.map((f) => `; ${f}`).join('')}`);
  if (failure !== undefined) say(`     ${failure}`);
  return failure === undefined;
}

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

/** These scenarios, one after the other, on one fleet; `quiet` is shared with those of other fleets. */
async function runOnFleet(wanted: readonly Scenario[], count: Count, quiet: Quiet): Promise<void> {
  const since = performance.now();
  const options = {
    name: 'scenario',
    nodes: NODES,
    mode: bestMode(),
    // More hosts die here, one after the other, than a fleet in service should ever lose: the brake, the cap and the gate
    // for failure domains would rightly stop the third within a minute.
    up: ['--storm-cap', '100', '--domains', String(NODES), ...(wanted.some((s) => s.needsBare) ? ['--bare', '1'] : [])],
    onProgress: (l: string) => process.stderr.write(`  ${l}\n`),
    say,
    keep: () => false,
    failed: () => count.failed > 0,
  };
  let started = (): void => undefined;
  const starting = quiet.run(false, () => new Promise<void>((resolve) => (started = resolve)));
  try {
    await withFleet(options, async (fleet) => {
      const home = fleet.info.hosts[1]?.name as string;
      for (const w of ['w1', 'w2']) await fleet.lab('workload', 'add', w, '--on', home);
      await fleet.heal();
      say(`a fleet of ${NODES} (${options.mode}) is up and commissioned: ${seconds(since)}`);
      started();
      for (const s of wanted)
        count[(await quiet.run(s.timed === true, () => runOne(fleet, s))) ? 'passed' : 'failed'] += 1;
    });
  } finally {
    started();
    await starting;
  }
}

/** Two fleets at once where there is work for both: most of a scenario's time is waiting. */
async function runAll(wanted: readonly Scenario[]): Promise<Count> {
  const count: Count = { passed: 0, failed: 0, skipped: 0 };
  const why = whyNoNamespaces();
  const possible = wanted.filter((s) => why === undefined || s.needsNetns !== true);
  for (const s of wanted.filter((x) => !possible.includes(x))) {
    say(`skip ${s.name.padEnd(4)} ${s.title}\n     it needs hosts with namespaces of their own: ${why}`);
    count.skipped += 1;
  }
  const quiet = new Quiet();
  const runs = [faults, operations]
    .map((group) => group.filter((s) => possible.includes(s)))
    .filter((group) => group.length > 0)
    .map((group) => runOnFleet(group, count, quiet));
  // Both are waited for before an error is told: each takes down its own fleet.
  const failed = (await Promise.allSettled(runs)).find((r) => r.status === 'rejected');
  if (failed) throw failed.reason;
  return count;
}

async function main(args: string[]): Promise<number> {
  if (args.includes('--list') || args.includes('--help')) {
    say(args.includes('--help') ? USAGE : scenarios.map((s) => `${s.name.padEnd(5)} ${s.title}`).join('\n'));
    return 0;
  }
  const { passed, failed, skipped } = await runAll(chosen(args));
  say(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0 ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (e: unknown) => {
    process.stderr.write(`${e instanceof Error ? e.message : String(e)}\n`);
    process.exitCode = e instanceof MusterError && e.code === 'BAD_REQUEST' ? 2 : 1;
  },
);
