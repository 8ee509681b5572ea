import { strict as assert } from 'node:assert';
import type { IncidentPhase } from '#contracts';
import { SEED, seeded } from '#contracts/testing/chance.js';
import { Api } from '../../../lab/src/fleet/api.js';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import type { ControlInfo, LabInfo } from '../../../lab/src/info.js';
import { takeRounds, type Round, type Rounds, type Turn } from '../../../bench/src/rounds.js';
import { muster } from '../command-line.js';
import {
  assertNeverTwice,
  assignedTo,
  hostRunning,
  kill,
  msAfter,
  nowNs,
  powerWrites,
  startedAfter,
  type Death,
} from '../observations.js';
import type { Scenario } from '../scenario.js';
import { heldTokens, leaseHolders, LEASES } from './leases.js';
import { standstills, starved } from '../starved.js';
import { hostNames, lasts } from '../watch.js';

/** The mission's minute. */
const ELSEWHERE_WITHIN_MS = 60_000;

/** What happens to a whole control host, and what makes it whole again. */
const FAULTS = { kill: 'start', cut: 'heal', stop: 'cont' } as const;
type Fault = keyof typeof FAULTS;
const told: Record<Fault, string> = {
  kill: 'is killed',
  cut: 'is cut off from every network',
  stop: 'stands still (SIGSTOP of all its processes)',
};

const controls = async (fleet: Fleet): Promise<ControlInfo[]> =>
  (await fleet.lab<LabInfo & Record<string, unknown>>('info')).controls;

/** Every gateway is ready, somebody holds each lease, and each stream has a leader. */
const wholeControl = (fleet: Fleet): Promise<ControlInfo[]> =>
  fleet.until(
    'three control hosts that are whole',
    async () => {
      const ready = await Promise.all(
        fleet.info.apis.map((api) =>
          new Api(api).exchange('GET', '/readyz').then(
            ({ status }) => status === 200,
            () => false, // nobody answers yet
          ),
        ),
      );
      if (ready.includes(false)) return undefined;
      const all = await controls(fleet);
      const held = all.flatMap((c) => c.leases ?? []);
      const led = all.flatMap((c) => c.streams ?? []);
      return LEASES.every((l) => held.includes(l)) && led.includes('KV_incidents') ? all : undefined;
    },
    90_000,
  );

/** Whom a fault hits. */
type Victim = { leases: 'most' } | { lease: string } | { stream: string };

function victimOf(all: readonly ControlInfo[], victim: Victim | { n: number }): ControlInfo {
  const leads = (c: ControlInfo): number => (c.leases?.length ?? 0) * 100 + (c.streams?.length ?? 0);
  const found =
    'n' in victim
      ? all.find((c) => c.n === victim.n)
      : 'leases' in victim
        ? all.toSorted((a, b) => leads(b) - leads(a))[0]
        : all.find((c) => ('lease' in victim ? c.leases?.includes(victim.lease) : c.streams?.includes(victim.stream)));
  assert.ok(found, `nobody leads ${JSON.stringify(victim)}`);
  return found;
}

const leadText = (c: ControlInfo): string => [...(c.leases ?? []), ...(c.streams ?? [])].join(' ') || 'nothing';

/** What followed the death of a host, s after it: by the events, by its BMC and by the ledger. */
async function timeline(fleet: Fleet, death: Death, started: number): Promise<string> {
  const s = (ms: number): string => (ms / 1000).toFixed(1);
  const events = fleet.events.seen.slice(death.mark).flatMap((e): [string, number][] => {
    if (e.kind === 'verdict' && e.key === death.node) return [[String(e.data['verdict']), msAfter(death, e)]];
    if (e.kind === 'incident' && e.data['node'] === death.node) return [[String(e.data['phase']), msAfter(death, e)]];
    return [];
  });
  const bmc = (await fleet.bmc(death.host))
    .filter((e) => e.op === 'set' && e.ns >= death.ns && e.value === '0')
    .map((e): [string, number] => ['off at the BMC', (e.ns - death.ns) / 1e6]);
  const all: [string, number][] = [...events, ...bmc, ['runs elsewhere', (started - death.ns) / 1e6]];
  return all
    .toSorted(([, a], [, b]) => a - b)
    .map(([what, ms]) => `${what} ${s(ms)}`)
    .join(', ');
}

/** One off of the dead host, and no power command to anybody else; what it gets when its work runs again is policy. */
async function oneOff(fleet: Fleet, death: Death): Promise<void> {
  for (const h of hostNames(fleet)) {
    const writes = await powerWrites(fleet, h, death.ns);
    if (h === death.host)
      assert.deepEqual(
        writes.filter((w) => w === 'off'),
        ['off'],
        `power of ${h}: ${writes.join(', ')}`,
      );
    else assert.deepEqual(writes, [], `power of ${h}`);
  }
}

/** All its work runs on others in time, each once, after one off. Answers the longest time, ms. */
async function runsElsewhere(
  fleet: Fleet,
  death: Death,
  names: readonly string[],
  sinceNs: number,
  say: (figure: string) => void,
): Promise<number> {
  let longest = 0;
  let lastNs = 0;
  for (const name of names) {
    const run = await startedAfter(fleet, name, death.ns, ELSEWHERE_WITHIN_MS + (nowNs() - death.ns) / 1e6);
    assert.notEqual(run.host, death.host);
    longest = Math.max(longest, (run.fromNs - sinceNs) / 1e6);
    lastNs = Math.max(lastNs, run.fromNs);
  }
  say(await timeline(fleet, death, lastNs));
  await oneOff(fleet, death);
  assert.ok(longest <= ELSEWHERE_WITHIN_MS, `it ran elsewhere after ${longest.toFixed(0)} ms`);
  await fleet.events.incident(death.node, 'recovered', ELSEWHERE_WITHIN_MS, death.mark);
  return longest;
}

const workOf = async (fleet: Fleet, host: string): Promise<string[]> => {
  const names = (await assignedTo(fleet, host)).filter((w) => w.desired === 'running').map((w) => w.name);
  assert.ok(names.includes('w1'), `w1 is not assigned to ${host}`);
  return names;
};

/** What a control host that was lost does when it is back: here so long, with two leases' worth of time. */
const AFTER_RETURN_MS = 20_000;

interface Loss {
  fault: Fault;
  victim: Victim | { n: number };
  /**
   * When the control host is lost: at a phase of the incident, when the node's BMC is told `off`, or so many ms after the
   * node's death. @default together with the node
   */
  when?: IncidentPhase | 'off' | number;
}

/** Resolves when the control host is to be lost. */
async function moment(fleet: Fleet, death: Death, when: NonNullable<Loss['when']>): Promise<void> {
  if (typeof when === 'number') await lasts(Math.max(0, when - (nowNs() - death.ns) / 1e6));
  else if (when !== 'off') await fleet.events.incident(death.node, when, ELSEWHERE_WITHIN_MS, death.mark);
  else
    await fleet.until(
      `${death.host} to be told off`,
      async () => ((await powerWrites(fleet, death.host, death.ns)).includes('off') ? true : undefined),
      ELSEWHERE_WITHIN_MS,
    );
}

/** A control host that is lost, with a node whose work runs elsewhere since. */
interface Lost {
  control: ControlInfo;
  fault: Fault;
  death: Death;
  names: readonly string[];
  /** How long that work was gone. */
  ms: number;
}

async function loseControl(fleet: Fleet, { fault, victim, when }: Loss, say: (figure: string) => void): Promise<Lost> {
  const all = await wholeControl(fleet);
  const host = await hostRunning(fleet, 'w1');
  const names = await workOf(fleet, host);
  const lost = victimOf(all, victim);
  const strike = (): Promise<{ ns: number }> => fleet.lab<{ ns: number }>('control', String(lost.n), fault);
  let death: Death;
  let struckNs: number;
  if (when === undefined) {
    const [died, struck] = await Promise.all([kill(fleet, host), strike()]);
    [death, struckNs] = [died, struck.ns];
  } else {
    death = await kill(fleet, host);
    await moment(fleet, death, when);
    struckNs = (await strike()).ns;
  }
  const at = ((struckNs - death.ns) / 1e6).toFixed(0);
  say(`${lost.name} (${leadText(lost)}) ${fault} ${at} ms after the death of ${host}`);
  const ms = await runsElsewhere(fleet, death, names, death.ns, say);
  say(`${names.join(', ')} elsewhere after ${(ms / 1000).toFixed(1)} s`);
  return { control: lost, fault, death, names, ms };
}

async function bringBack(fleet: Fleet, { control, fault, death, names }: Lost): Promise<void> {
  await fleet.lab('control', String(control.n), FAULTS[fault]);
  await wholeControl(fleet);
  // Nothing announces that nothing more is done by one that woke.
  await lasts(AFTER_RETURN_MS);
  await oneOff(fleet, death);
  await assertNeverTwice(fleet, ...names);
}

const losing = (name: string, when: string, loss: Loss): Scenario => ({
  name,
  needsNetns: true,
  controls: 3,
  timed: true,
  title: `of three control hosts ${when} ${told[loss.fault]}: running elsewhere within the minute, one off, each once`,
  run: async (fleet, say) => bringBack(fleet, await loseControl(fleet, loss, say)),
});

/** V7.one */
const leadersOfOne: Scenario = {
  name: 'V7.one',
  needsNetns: true,
  timed: true,
  title:
    'on one server the processes of the leading fencer, the conductor and the active detector are killed with a node: running elsewhere within the minute, one off, each once',
  async run(fleet, say) {
    const host = await hostRunning(fleet, 'w1');
    const names = await workOf(fleet, host);
    const leaders = await fleet.until('every lease to be held', () => leaseHolders(fleet), 30_000);
    const [death] = await Promise.all([
      kill(fleet, host),
      ...leaders.map((leader) => fleet.lab('service', leader, 'kill')),
    ]);
    say(`${leaders.join(', ')} killed with ${host}`);
    const ms = await runsElsewhere(fleet, death, names, death.ns, say);
    say(`${names.join(', ')} elsewhere after ${(ms / 1000).toFixed(1)} s`);
    for (const leader of leaders) await fleet.lab('service', leader, 'start');
    await fleet.until('every lease to be held', () => leaseHolders(fleet), 30_000);
    await lasts(AFTER_RETURN_MS);
    await oneOff(fleet, death);
    await assertNeverTwice(fleet, ...names);
  },
};

/** Longer than any lease lasts on a cluster, and than a node takes to be called DOWN after it. */
const NO_ACT_MS = 45_000;
/** A gateway that is left knows that nothing can be written. */
const TOLD_WITHIN_MS = 20_000;

/** V7d */
const twoOfThree: Scenario = {
  name: 'V7d',
  needsNetns: true,
  controls: 3,
  title:
    'two of three control hosts are gone as a host dies: no act, told by what is left; with one back its work runs elsewhere within the minute',
  async run(fleet, say) {
    const all = await wholeControl(fleet);
    const host = await hostRunning(fleet, 'w1');
    const names = await workOf(fleet, host);
    const most = victimOf(all, { leases: 'most' });
    const [left, other] = all.filter((c) => c !== most) as [ControlInfo, ControlInfo];
    const gone = [most, other];
    const [death] = await Promise.all([
      kill(fleet, host),
      ...gone.map((c) => fleet.lab('control', String(c.n), 'kill')),
    ]);
    say(`${gone.map((c) => `${c.name} (${leadText(c)})`).join(' and ')} killed with ${host}; ${left.name} is left`);
    const url = fleet.info.apis[left.n - 1] ?? '';
    const gateway = new Api(url);
    const since = performance.now();
    const passed = (): string => ((performance.now() - since) / 1000).toFixed(1);
    const unready = await fleet.until(
      `the gateway of ${left.name} not to be ready`,
      async () => {
        const answer = await gateway.exchange('GET', '/readyz');
        return answer.status === 503 ? answer.text : undefined;
      },
      TOLD_WITHIN_MS,
    );
    say(`503 of /readyz after ${passed()} s: ${unready}`);
    const refused = await gateway.exchange('PATCH', '/v1/settings', { fencing: { mode: 'enforce' } }, 60_000);
    assert.ok(refused.status >= 500, `a write was answered with ${refused.status} ${refused.text}`);
    const status = await muster(url, 'status');
    assert.notEqual(status.code, 0, status.out);
    say(`muster status: exit ${status.code}: ${(status.err || status.out).trim().split('\n')[0]}`);
    await lasts(Math.max(0, NO_ACT_MS - (performance.now() - since)));
    for (const h of hostNames(fleet)) assert.deepEqual(await powerWrites(fleet, h, death.ns), [], `power of ${h}`);
    for (const name of names)
      assert.ok(
        (await fleet.history(name))?.runs.every((r) => r.fromNs < death.ns),
        `${name} was started while nobody could decide`,
      );
    const { ns } = await fleet.lab<{ ns: number }>('control', String(other.n), 'start');
    const ms = await runsElsewhere(fleet, death, names, ns, say);
    say(`${names.join(', ')} elsewhere ${(ms / 1000).toFixed(1)} s after ${other.name} was started`);
    await fleet.lab('control', String(most.n), 'start');
    await wholeControl(fleet);
    await oneOff(fleet, death);
    await assertNeverTwice(fleet, ...names);
  },
};

/** So many callers write at once, each again when it is answered. */
const WRITERS = 4;
const WRITES_MS = 8_000;

/** Requests that are sent all the time, and the names in those that were answered with success. */
function writeOn(fleet: Fleet): { accepted: string[]; end(): Promise<void> } {
  const accepted: string[] = [];
  let sent = 0;
  let ended = false;
  const workload = { desired: 'stopped', recovery: { driver: 'ansible', spec: { exec: '/bin/true' } } };
  const write = async (): Promise<void> => {
    while (!ended) {
      const name = `edit${(sent += 1)}`;
      const answer = await fleet.api.exchange('PUT', `/v1/workloads/${name}`, workload, 3_000).catch(() => undefined);
      if (answer !== undefined && answer.status < 300) accepted.push(name);
      else if (!ended) await lasts(100);
    }
  };
  const writers = Promise.all(Array.from({ length: WRITERS }, write));
  return {
    accepted,
    async end() {
      ended = true;
      await writers;
    },
  };
}

/** V7p */
const powerCut: Scenario = {
  name: 'V7p',
  needsNetns: true,
  controls: 3,
  storeDisks: true,
  tools: { names: ['mkfs.xfs'], install: 'apt-get install xfsprogs' },
  title:
    'all three control hosts lose power at once, with what was not synced, as a host dies under writes: no accepted request is lost, tokens grow, its work runs elsewhere within the minute',
  async run(fleet, say) {
    await wholeControl(fleet);
    const host = await hostRunning(fleet, 'w1');
    const names = await workOf(fleet, host);
    const before = await fleet.until('every lease to be held', () => heldTokens(fleet), 30_000);
    const writing = writeOn(fleet);
    await lasts(WRITES_MS);
    const [death] = await Promise.all([kill(fleet, host), fleet.lab('power-cut')]);
    await writing.end();
    const { accepted } = writing;
    assert.ok(accepted.length > 0, 'nothing was accepted before the cut');
    const started = await Promise.all([1, 2, 3].map((n) => fleet.lab<{ ns: number }>('control', String(n), 'start')));
    const ms = await runsElsewhere(fleet, death, names, Math.min(...started.map(({ ns }) => ns)), say);
    say(`${names.join(', ')} elsewhere ${(ms / 1000).toFixed(1)} s after power was back`);
    await wholeControl(fleet);
    const there = new Set((await fleet.workloads()).map((w) => w.name));
    const lost = accepted.filter((name) => !there.has(name));
    say(`${accepted.length} requests accepted, ${lost.length} of them lost`);
    assert.deepEqual(lost, []);
    const after = await fleet.until('every lease to be held', () => heldTokens(fleet), 30_000);
    say(LEASES.map((name) => `${name} ${before[name]} → ${after[name]}`).join(', '));
    for (const name of LEASES) assert.ok(after[name] > before[name], `the token of ${name} has not grown`);
    await oneOff(fleet, death);
    await assertNeverTwice(fleet, ...names);
    for (const name of there) if (name.startsWith('edit')) await fleet.api.request('DELETE', `/v1/workloads/${name}`);
  },
};

const ROUNDS = 20;
const MEDIAN_WITHIN_MS = 30_000;
/** Later than this after the node's death its work runs elsewhere already. */
const LATEST_LOSS_MS = 12_000;

interface RandomLoss extends Loss {
  victim: { n: number };
  when: number;
}

interface LossRound extends Round {
  loss: RandomLoss;
  /** Absent: it failed. */
  lost?: Lost;
}

async function lossRound(fleet: Fleet, loss: RandomLoss): Promise<LossRound> {
  const before = await standstills(fleet);
  const done = await loseControl(fleet, loss, () => undefined).then(
    (lost) => ({ lost }),
    (e: unknown) => ({ failed: e instanceof Error ? e : new Error(String(e)) }),
  );
  const hosts = starved(before, await standstills(fleet));
  return { loss, ...done, ...(hosts.length > 0 && { starved: `the agents of ${hosts.join(', ')} stood still` }) };
}

/** Whether or not the round counts: want of CPU excuses no violation. */
async function settle(fleet: Fleet, { lost }: LossRound): Promise<void> {
  if (lost !== undefined) await bringBack(fleet, lost);
  await fleet.heal();
  const { violations } = await fleet.audit();
  assert.deepEqual(violations, []);
}

/** V7r */
const randomLosses: Scenario = {
  name: 'V7r',
  needsNetns: true,
  controls: 3,
  timed: true,
  title: `${ROUNDS} times any of three control hosts is lost in any way at any moment of an incident: median ≤ 30 s, always ≤ 60 s, no violation`,
  async run(fleet, say) {
    const random = seeded(SEED);
    say(`seed ${SEED}`);
    const losses = Array.from({ length: ROUNDS }, (): RandomLoss => {
      const fault = Object.keys(FAULTS)[Math.floor(random() * 3)] as Fault;
      return { fault, victim: { n: 1 + Math.floor(random() * 3) }, when: random() * LATEST_LOSS_MS };
    });
    const rounds: Rounds<LossRound> = { done: [], void: 0 };
    const turn: Turn<RandomLoss, LossRound> = {
      // A void round is repeated with the same loss.
      prepare: () => Promise.resolve(losses[rounds.done.length] as RandomLoss),
      measure: (loss) => lossRound(fleet, loss),
      after: (_loss, round) => settle(fleet, round),
      tell: ({ loss, lost }) =>
        `ctl${loss.victim.n} ${loss.fault} at ${(loss.when / 1000).toFixed(1)} s → ${lost === undefined ? 'failed' : `${(lost.ms / 1000).toFixed(1)} s`}`,
    };
    await takeRounds(turn, ROUNDS, rounds, say);
    const times = rounds.done.flatMap(({ lost }) => lost?.ms ?? []);
    const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Infinity;
    const longest = Math.max(...times);
    say(`median ${(median / 1000).toFixed(1)} s, longest ${(longest / 1000).toFixed(1)} s, ${rounds.void} rounds void`);
    assert.ok(median <= MEDIAN_WITHIN_MS, `the median is ${median.toFixed(0)} ms`);
  },
};

const most: Victim = { leases: 'most' };

/** V7: one of them is lost at the worst moment of an incident. */
export const threeHosts: readonly Scenario[] = [
  losing('V7a', 'the one with the most leases, with a node,', { fault: 'kill', victim: most }),
  losing('V7b', 'the one with the most leases, with a node,', { fault: 'cut', victim: most }),
  losing('V7c', 'the one with the most leases, with a node,', { fault: 'stop', victim: most }),
  losing('V7a.fencing', 'the leading fencer, while it fences,', {
    fault: 'kill',
    victim: { lease: 'fencer' },
    when: 'fencing',
  }),
  losing('V7c.fencing', 'the leading fencer, while it fences,', {
    fault: 'stop',
    victim: { lease: 'fencer' },
    when: 'fencing',
  }),
  losing('V7c.off', 'the leading fencer, as a BMC is told off,', {
    fault: 'stop',
    victim: { lease: 'fencer' },
    when: 'off',
  }),
  losing('V7a.store', 'the leader of the incidents’ stream, while a node is fenced,', {
    fault: 'kill',
    victim: { stream: 'KV_incidents' },
    when: 'fencing',
  }),
  losing('V7b.fencing', 'the leading fencer, while it fences,', {
    fault: 'cut',
    victim: { lease: 'fencer' },
    when: 'fencing',
  }),
  losing('V7b.store', 'the leader of the incidents’ stream, while a node is fenced,', {
    fault: 'cut',
    victim: { stream: 'KV_incidents' },
    when: 'fencing',
  }),
  losing('V7c.store', 'the leader of the incidents’ stream, while a node is fenced,', {
    fault: 'stop',
    victim: { stream: 'KV_incidents' },
    when: 'fencing',
  }),
  losing('V7b.recovering', 'the conductor, as work is started elsewhere,', {
    fault: 'cut',
    victim: { lease: 'conductor' },
    when: 'recovering',
  }),
  leadersOfOne,
  twoOfThree,
  randomLosses,
  powerCut,
];
