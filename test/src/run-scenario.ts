import { writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { MusterError } from '#contracts';
import type { Fleet } from '../../lab/src/fleet/fleet.js';
import { withFleet } from '../../lab/src/fleet/with-fleet.js';
import { bestMode, whyNoNamespaces } from '../../lab/src/mode.js';
import { missingTools } from '../../lab/src/tools.js';
import { inTurn } from './in-turn.js';
import { orFail } from './or-fail.js';
import { Quiet } from './quiet.js';
import { VoidRound, type Scenario } from './scenario.js';
import { daily, long } from './scenarios/index.js';
import { standstills, starved } from './starved.js';

const scenarios: readonly Scenario[] = [...daily.flat(), ...long];

const USAGE = `usage: npm run scenario -- all | long | NAME… [--list] [--json] [--out FILE]
  npm run scenario -- D3        one scenario, on a fleet of its own
  npm run scenario -- F1 F19    several; those of one group share a fleet that is healed between them
  npm run scenario -- long      those that take minutes each, or fleets of other sizes, one after the other
  --apart                       fleet after fleet: on a slow machine, where what brings the next one up disturbs the one before
  --json                        as last line {passed, failed, skipped, scenarios: [{name, ok, seconds, …}]}
  --out FILE                    the same in FILE, written after each scenario`;

const NODES = 5;
/** A void round says nothing: it is repeated so often at most. */
const MOST_REPEATS = 2;

const namesOf = (s: Pick<Scenario, 'name' | 'also'>): string[] => [s.name, ...(s.also ?? [])];
const secondsSince = (since: number): number => Math.round((performance.now() - since) / 100) / 10;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

function chosen(args: string[]): readonly Scenario[] {
  const unknown = args.filter((a) => a !== 'all' && a !== 'long' && !scenarios.some((s) => namesOf(s).includes(a)));
  if (args.length === 0 || unknown.length > 0)
    throw new MusterError('BAD_REQUEST', unknown.length > 0 ? `no scenario ${unknown.join(', ')}\n${USAGE}` : USAGE);
  return scenarios.filter(
    (s) => namesOf(s).some((n) => args.includes(n)) || args.includes(long.includes(s) ? 'long' : 'all'),
  );
}

/** What was seen of a scenario. */
interface Result {
  name: string;
  also?: readonly string[];
  title: string;
  ok: boolean;
  seconds: number;
  healedSeconds: number;
  figures: string[];
  failure?: string;
  /** Rounds that were not counted, and why. */
  void: string[];
}

/** What was seen of all so far, as `--json` and `--out` tell it. */
class Seen {
  readonly results: Result[] = [];
  skipped = 0;

  constructor(private readonly out: string | undefined) {}

  get outcome() {
    const passed = this.results.filter((r) => r.ok).length;
    return { passed, failed: this.results.length - passed, skipped: this.skipped, scenarios: this.results };
  }

  /** To be called after each that came: a run that does not come to its end has told of those. */
  note(): void {
    if (this.out !== undefined) writeFileSync(this.out, `${JSON.stringify(this.outcome)}\n`);
  }
}

const text = (e: unknown): string => (e instanceof Error ? e.message : String(e));

/** What is still wrong after the healing; undefined: nothing. */
async function wrongAfterHealing(fleet: Fleet): Promise<string | undefined> {
  try {
    await fleet.heal();
    const { ok, violations } = await fleet.audit();
    return ok ? undefined : violations.map((v) => `${v.kind} ${v.subject}: ${v.detail}`).join('; ');
  } catch (e) {
    return `did not heal: ${text(e)}`;
  }
}

/** One scenario, then the healing, then the audit: each can fail it. `timeIsTaken` is called in between, if not earlier. */
async function runOne(
  fleet: Fleet,
  scenario: Scenario,
  timeIsTaken: () => void,
): Promise<Result & { misrun: boolean }> {
  const since = performance.now();
  const figures: string[] = [];
  let failure: string | undefined;
  let misrun = false;
  try {
    await scenario.run(fleet, (f) => figures.push(f), timeIsTaken);
  } catch (e) {
    failure = text(e);
    misrun = e instanceof VoidRound;
  }
  const seconds = secondsSince(since);
  timeIsTaken();
  const healing = performance.now();
  const after = await wrongAfterHealing(fleet);
  if (after !== undefined && (misrun || failure === undefined)) {
    failure = after;
    misrun = false;
  }
  return {
    name: scenario.name,
    ...(scenario.also !== undefined && { also: scenario.also }),
    title: scenario.title,
    ok: failure === undefined,
    seconds,
    healedSeconds: secondsSince(healing),
    figures,
    ...(failure !== undefined && { failure }),
    void: [],
    misrun,
  };
}

/**
 * What is seen in it begins with a verdict: all of detection, fencing and returns, and with three control hosts whatever is
 * timed. One that makes an agent stand still does so on purpose.
 */
const hangsOnVerdicts = (s: Scenario): boolean =>
  s.standsStill !== true && (s.controls === 3 || namesOf(s).some((n) => /^[DFRV]/.test(n)));

/**
 * A failure is void where the scenario says so itself, or where this machine had no time for some agent, which then
 * rightly had no opinion.
 */
async function runUntilCounted(fleet: Fleet, scenario: Scenario, quiet: Quiet, begun: () => void): Promise<Result> {
  const voided: string[] = [];
  for (;;) {
    const before = hangsOnVerdicts(scenario) ? await standstills(fleet) : undefined;
    // What is timed is over when the healing begins.
    const { misrun, ...result } = await quiet.run(scenario.timed === true, (relax) => {
      begun();
      return runOne(fleet, scenario, relax);
    });
    const hosts = before === undefined || result.ok ? [] : starved(before, await standstills(fleet));
    if ((!misrun && hosts.length === 0) || voided.length >= MOST_REPEATS) return { ...result, void: voided };
    const why = misrun
      ? String(result.failure)
      : `the agents of ${hosts.join(', ')} stood still for want of CPU: ${result.failure}`;
    voided.push(why);
    say(`void ${scenario.name.padEnd(4)} ${why}`);
  }
}

function print(r: Result): void {
  say(`${r.ok ? 'ok  ' : 'FAIL'} ${namesOf(r).join(' ').padEnd(4)} ${r.title}`);
  say(
    `     ${r.seconds.toFixed(1)} s, healed and audited in ${r.healedSeconds.toFixed(1)} s${r.figures.map((f) => `; ${f}`).join('')}`,
  );
  if (r.failure !== undefined) say(`     ${r.failure}`);
}

/**
 * These scenarios, one after the other, on one fleet; `quiet` is shared with those of other fleets. `begun` is called when
 * the first of them begins.
 */
async function runOnFleet(
  wanted: readonly Scenario[],
  seen: Seen,
  quiet: Quiet,
  begun: () => void = () => undefined,
): Promise<void> {
  const { nodes = NODES, peers = 0, controls } = wanted[0] ?? {};
  const options = {
    name: 'scenario',
    nodes,
    mode: bestMode(),
    // More hosts die here, one after the other, than a fleet in service should ever lose: the brake, the cap and the gate
    // for failure domains would rightly stop the third within a minute.
    up: [
      ...['--storm-cap', '100', '--domains', String(nodes)],
      ...(peers > 0 ? ['--peers', String(peers)] : []),
      // A service that finds no leader as it starts ends, and is started again, as by its unit.
      ...(controls === undefined ? [] : ['--control', String(controls), '--restart', '1']),
      ...(wanted.some((s) => s.storeDisks) ? ['--store-disks'] : []),
      ...(wanted.some((s) => s.needsBare) ? ['--bare', '1'] : []),
      ...(wanted.some((s) => s.needsClocks) ? ['--faketime'] : []),
    ],
    onProgress: (l: string) => process.stderr.write(`  ${l}\n`),
    say,
    keep: () => false,
    failed: () => seen.results.some((r) => !r.ok),
  };
  let started = (): void => undefined;
  let starting: Promise<void> = Promise.resolve();
  await new Promise<void>((mayStart) => {
    starting = quiet.run(false, () => {
      mayStart();
      return new Promise<void>((resolve) => (started = resolve));
    });
  });
  const since = performance.now();
  try {
    await withFleet(options, async (fleet) => {
      const home = fleet.info.hosts[1]?.name as string;
      await Promise.all(['w1', 'w2'].map((w) => fleet.lab('workload', 'add', w, '--on', home)));
      await fleet.heal();
      say(`a fleet of ${nodes + peers} (${options.mode}) is up and commissioned: ${secondsSince(since).toFixed(1)} s`);
      started();
      for (const s of wanted) {
        const result = await runUntilCounted(fleet, s, quiet, begun);
        print(result);
        seen.results.push(result);
        seen.note();
      }
    });
  } finally {
    started();
    await starting;
  }
}

/** As {@link runOnFleet}; what keeps the fleet from its scenarios fails them ({@link orFail}). */
async function runOrFail(wanted: readonly Scenario[], seen: Seen, quiet: Quiet, begun?: () => void): Promise<void> {
  await orFail(
    wanted,
    seen.results,
    () => runOnFleet(wanted, seen, quiet, begun),
    ({ name, title }, cause) => {
      const failure = `its fleet failed: ${text(cause)}`;
      const result: Result = { name, title, ok: false, seconds: 0, healedSeconds: 0, figures: [], failure, void: [] };
      print(result);
      return result;
    },
  );
  seen.note();
}

/** Those that can share a fleet. */
const byFleet = (wanted: readonly Scenario[]): Scenario[][] => {
  const groups = new Map<string, Scenario[]>();
  for (const s of wanted) {
    const key = `${s.nodes ?? NODES} ${s.peers ?? 0} ${s.needsClocks === true} ${s.controls ?? 1} ${s.storeDisks === true}`;
    groups.set(key, [...(groups.get(key) ?? []), s]);
  }
  return [...groups.values()];
};

/** What a scenario needs and this machine has not; undefined: nothing. */
function whyNot(s: Scenario, noNamespaces: string | undefined): string | undefined {
  if (s.needsNetns === true && noNamespaces !== undefined)
    return `it needs hosts with namespaces of their own: ${noNamespaces}`;
  const missing = missingTools(s.tools?.names ?? []);
  return missing.length === 0 ? undefined : `it needs ${missing.join(', ')}; run: ${s.tools?.install}`;
}

/** The daily ones group by group; the long ones have the machine for themselves, fleet after fleet. */
async function runAll(wanted: readonly Scenario[], seen: Seen, apart: boolean): Promise<void> {
  const noNamespaces = whyNoNamespaces();
  const skipped = wanted.flatMap((scenario) => {
    const why = whyNot(scenario, noNamespaces);
    return why === undefined ? [] : [{ scenario, why }];
  });
  const possible = wanted.filter((s) => !skipped.some((x) => x.scenario === s));
  seen.skipped = skipped.length;
  seen.note();
  for (const { scenario: s, why } of skipped) say(`skip ${namesOf(s).join(' ').padEnd(4)} ${s.title}\n     ${why}`);
  const quiet = new Quiet();
  const groups = daily.map((group) => group.filter((s) => possible.includes(s))).filter((group) => group.length > 0);
  // To bring a fleet up takes the whole machine, and scenarios mostly wait: the one beside the other.
  if (!apart) await inTurn(groups.map((group) => (begun) => runOrFail(group, seen, quiet, begun)));
  const alone = [...(apart ? groups : []), ...byFleet(possible.filter((s) => long.includes(s)))];
  for (const group of alone) await runOrFail(group, seen, quiet);
}

/** @throws MusterError BAD_REQUEST */
function readOut(args: readonly string[]): { out?: string; rest: string[] } {
  const at = args.indexOf('--out');
  if (at < 0) return { rest: [...args] };
  const out = args[at + 1];
  if (out === undefined) throw new MusterError('BAD_REQUEST', `--out names no file\n${USAGE}`);
  return { out, rest: args.toSpliced(at, 2) };
}

async function main(args: string[]): Promise<number> {
  if (args.includes('--list') || args.includes('--help')) {
    say(
      args.includes('--help')
        ? USAGE
        : scenarios.map((s) => `${namesOf(s).join(' ').padEnd(11)} ${s.title}`).join('\n'),
    );
    return 0;
  }
  const { out, rest } = readOut(args);
  const seen = new Seen(out);
  const flags = ['--json', '--apart'];
  await runAll(chosen(rest.filter((a) => !flags.includes(a))), seen, rest.includes('--apart'));
  const { passed, failed, skipped } = seen.outcome;
  say(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  if (args.includes('--json')) say(JSON.stringify(seen.outcome));
  return failed === 0 ? 0 : 1;
}

main(process.argv.slice(2)).then(
  (code) => (process.exitCode = code),
  (e: unknown) => {
    process.stderr.write(`${text(e)}\n`);
    process.exitCode = e instanceof MusterError && e.code === 'BAD_REQUEST' ? 2 : 1;
  },
);
