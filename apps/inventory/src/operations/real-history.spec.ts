import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESERVATIONS_KEY, type NodeRecord, type OperationRequest } from '#contracts';
import { FACTOR, runs, SEED } from '#contracts/testing/chance.js';
import { Dice } from '#contracts/testing/dice.js';
import { aNode } from '../testing/fixtures.js';
import { expectedRefusal } from '../testing/operations-model.js';
import { RandomOperations, type Mix } from '../testing/random-operations.js';
import {
  brokenRules,
  readReservations,
  workersWithoutMaster,
  type ReservationsRead,
} from '../testing/read-reservations.js';
import { RunningInventory, seen } from '../testing/running-inventory.js';

/** Of the whole history. */
const STEPS = runs(900);
/** Requests in flight at once. */
const ACTORS = 16;
/** Between two looks at everything, ms. */
const LOOK_MS = 15;
/** Requests at each rest that must be refused, and must leave no trace. */
const PROBES = 60;
const names = Array.from({ length: 24 }, (_, i) => `n${i}-1`);
const few = names.slice(0, 4);

const everything: Mix = { request: 40, work: 45, cancel: 3, hear: 8, claim: 4 };
const rolesOnly: Mix = { request: 40, work: 55, cancel: 5, hear: 0, claim: 0 };

let sut: RunningInventory;
let dice: Dice;
let history: RandomOperations;
/** What must never be and was seen, in the order of the sightings. */
const found: string[] = [];
/** Every job that has had a record, and those that are done with. */
const known = new Set<string>();
const settled = new Set<string>();
let replicas = 2;

beforeAll(async () => {
  dice = new Dice(SEED);
  sut = await RunningInventory.start({ replicas, mortal: true });
  await sut.work('provisioner', ['ansible']);
  const bucket = sut.as('inventory').bucket<NodeRecord>('nodes');
  for (const [i, name] of names.entries())
    await bucket.create(
      name,
      aNode(name, {
        enrolled: false,
        networks: { management: { address: `10.9.0.${i}` } },
        ...(i === 0 && { status: 'Allocated', prevStatus: 'Provisioning', hostGroup: 'service-master' }),
      }),
    );
  await Promise.all(names.map((n) => seen(sut.nodes, n, () => true)));
  history = new RandomOperations(sut, names, dice);
  watchJobs();
});

afterAll(async () => {
  await sut?.stop();
});

/** Jobs are one stream: the order in which their records change is known, so two that hold one node are seen for sure. */
function watchJobs(): void {
  const openOn = new Map<string, string>();
  sut.jobs.onChange((id, job) => {
    if (!job) return;
    known.add(id);
    const over = job.status === 'Complete' || job.status === 'Errored';
    if (job.settled) settled.add(id);
    for (const node of job.nodes) {
      const other = openOn.get(node);
      if (over && other === id) openOn.delete(node);
      else if (!over && other !== undefined && other !== id) found.push(`${node} is in ${other} and in ${id}`);
      else if (!over) openOn.set(node, id);
    }
  });
}

const look = (): Promise<ReservationsRead> => readReservations(sut.as('inventory'), names);

/** Looks at everything again and again until told to stop. */
function inspect(also: (l: ReservationsRead) => string | undefined): () => Promise<void> {
  const state = { going: true };
  const done = (async () => {
    while (state.going) {
      const l = await look();
      found.push(...brokenRules(l));
      const more = also(l);
      if (more !== undefined) found.push(more);
      await pause(LOOK_MS);
    }
  })();
  return async () => {
    state.going = false;
    await done;
  };
}

interface Act {
  steps: number;
  mix: Mix;
  failures: boolean;
  request: () => OperationRequest;
  also?: (l: ReservationsRead) => string | undefined;
  victim: 'conductor' | 'other' | 'in good order';
}

/** Many at once, while a replica dies between any two of its writes, and another comes. */
async function play(act: Act): Promise<void> {
  const stopLooking = inspect(act.also ?? (() => undefined));
  let left = act.steps;
  const actor = async (): Promise<void> => {
    while (left-- > 0) await history.step(act.mix, act);
  };
  await Promise.all([strike(act.victim), ...Array.from({ length: ACTORS }, actor)]);
  await rest();
  await stopLooking();
}

async function strike(victim: Act['victim']): Promise<void> {
  const conductor = await history.conductor();
  const others = sut.instances.filter((i) => i !== conductor);
  const name = victim === 'conductor' ? conductor : (dice.maybeOf(others) ?? conductor);
  history.steps += 2;
  if (victim === 'in good order') return sut.restart(name);
  await sut.crash(name, dice.below(60));
  await sut.startAnother(`inventory-${++replicas}`);
}

/** Until every job is done with, and every node that came back has had its check. */
async function rest(): Promise<void> {
  const deadline = performance.now() + 25_000;
  for (let pending = unfinished(); pending !== undefined; pending = unfinished()) {
    if (performance.now() > deadline) throw new Error(`it does not come to rest: ${pending}`);
    history.steps += history.provisioner.open.length;
    await history.provisioner.stepAll();
    await changed();
  }
}

function unfinished(): string | undefined {
  const now = sut.reservations.get(RESERVATIONS_KEY)?.value;
  const job = sut.jobs.entries().find((e) => !e.value.settled);
  if (job) return `${job.key} is ${job.value.status}`;
  const held = Object.entries(now?.held ?? {}).find(([, h]) => h.job !== undefined);
  if (held) return `${held[0]} is held by ${held[1].job}`;
  const pending = Object.keys(now?.pending ?? {})[0];
  if (pending !== undefined) return `${pending} is pending`;
  const back = sut.nodes
    .entries()
    .map((e) => e.value)
    .find((n) => n.pendingReturn && n.pendingReturn.held === undefined && n.state === 'Discovered');
  return back && `${back.name} waits for its check`;
}

/** The next change of a record, or a moment later. */
function changed(): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      stops.forEach((stop) => stop());
      resolve();
    };
    const timer = setTimeout(end, 100);
    const stops = [sut.jobs, sut.reservations, sut.nodes].map((v) => v.onChange(end));
  });
}

/** Of every stream that a request could change, but that of jobs: old ones are forgotten at any time. */
async function revisions(): Promise<number[]> {
  const last = async (bucket: string): Promise<number> => {
    const info = await sut.as('inventory').ask<{ state: { last_seq: number } }>(`$JS.API.STREAM.INFO.KV_${bucket}`, {});
    return info.state.last_seq;
  };
  return Promise.all(['nodes', 'admission', 'workloads', 'incidents', 'settings', 'secrets'].map(last));
}

const jobRevisions = async (): Promise<Map<string, number>> =>
  new Map((await sut.as('inventory').bucket('jobs').list()).map((e) => [e.key, e.revision]));

/** At rest the model says what each request must be answered; those that are refused change no revision of anything. */
async function probe(): Promise<void> {
  const l = await look();
  found.push(...brokenRules(l));
  for (const n of l.nodes)
    if (['Provisioning', 'Cancelled', 'Maintenance'].includes(n.status)) found.push(`${n.name} rests ${n.status}`);
  // As inventory reads them: a watch of this process may be behind what the last step has written.
  const records = await sut.as('inventory').bucket<NodeRecord>('nodes').list();
  const nodes = new Map(records.map((e) => [e.key, e.value]));
  const asked = Array.from({ length: PROBES }, () => history.anyRequest()).flatMap((request) => {
    const code = expectedRefusal(request, nodes, l.after.held);
    return code === undefined ? [] : [{ request, code }];
  });
  const before = await revisions();
  const jobs = await jobRevisions();
  await Promise.all(
    asked.map(async ({ request, code }) => {
      const answer = await history.ask(request);
      if (answer !== code) found.push(`${JSON.stringify(request)}: ${answer ?? 'accepted'} instead of ${code}`);
    }),
  );
  const after = await revisions();
  if (String(after) !== String(before))
    found.push(`refused requests moved revisions ${String(before)} to ${String(after)}`);
  for (const [id, revision] of await jobRevisions())
    if (jobs.get(id) !== revision) found.push(`refused requests have written ${id}`);
}

function nothingFound(): void {
  for (const id of history.accepted) if (!settled.has(id)) found.push(`${id} was accepted and never settled`);
  for (const id of history.refused) if (known.has(id)) found.push(`${id} was refused and is there`);
  expect(found.slice(0, 5)).toEqual([]);
}

describe(`the real inventory under ${STEPS} random steps, MUSTER_SEED=${SEED}`, () => {
  const each: Act['victim'][] = ['other', 'conductor', 'in good order'];
  // Each end of a replica takes seconds: a longer history has more of them.
  const victims = FACTOR > 1 ? [...each, ...each.toReversed()] : each;
  const share = Math.ceil((STEPS * 0.7) / victims.length);

  it('leaves no node in two jobs or stuck, loses no accepted request, and no refused one leaves a trace', async () => {
    for (const victim of victims) {
      await play({ steps: share, mix: everything, failures: true, request: () => history.anyRequest(), victim });
      await probe();
      nothingFound();
    }
  });

  it('lets no two requests break a role rule together', async () => {
    for (const name of names) {
      const addr = sut.nodes.get(name)?.value.networks['management']?.address ?? '';
      const [label = '', serial = ''] = name.split('-');
      await sut
        .as('gateway')
        .call('inventory.monitor.event', { by: 'spec', event: 'discovered', nodes: [{ label, serial, addr }] });
    }
    await history.releaseClaims();
    await rest();
    // Few nodes and one master among them: where every request matters to the next.
    for (const hostGroup of ['service-worker', 'service-master']) {
      const nodes = allocated(hostGroup);
      if (nodes.length > 0) expect(await history.ask({ kind: 'decommission', nodes })).toBeUndefined();
      await rest();
    }
    await history.ask({ kind: 'commission', nodes: few.slice(0, 1), hostGroup: 'service-master' });
    await rest();
    const steps = Math.max(100, STEPS - history.steps);
    await play({
      steps,
      mix: rolesOnly,
      failures: false,
      request: () => history.roleRequest(few),
      also: workersWithoutMaster,
      victim: 'other',
    });
    await probe();
    nothingFound();
    process.stdout.write(
      `operations: ${history.steps} steps, ${history.accepted.size} jobs, refusals ${JSON.stringify(Object.fromEntries(history.refusals))}\n`,
    );
    expect(history.steps).toBeGreaterThanOrEqual(STEPS);
  });
});

const allocated = (hostGroup: string): string[] =>
  sut.nodes
    .entries()
    .filter((e) => e.value.status === 'Allocated' && e.value.hostGroup === hostGroup)
    .map((e) => e.key);
