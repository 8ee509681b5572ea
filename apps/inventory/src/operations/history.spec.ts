import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { defaultHostGroups, MusterError, type JobRecord, type NodeRecord, type Reservations } from '#contracts';
import { runs } from '#contracts/testing/chance.js';
import { settle } from '../plan/jobs/settle.js';
import { moveForJob } from '../nodes/node-status.js';
import { aJob, aNode } from '../testing/fixtures.js';
import { admit, type AdmissionRequest } from './admission.js';
import { heldBy, noReservations, release, reserve } from './reservations.js';

const NAMES = ['a-1', 'b-1', 'c-1', 'd-1'];
const kinds = ['commission', 'decommission', 'maintenance', 'check', 'resetup'] as const;
const groups = ['service-master', 'service-worker', undefined, 'foo'];

interface World {
  nodes: Map<string, NodeRecord>;
  reservations: Reservations;
  jobs: Map<string, JobRecord>;
  /** Nodes of a job whose records have not followed yet. */
  toMove: { job: string; node: string }[];
  count: number;
}

type Step =
  | { do: 'request'; kind: (typeof kinds)[number]; nodes: string[]; group: number }
  | { do: 'move'; which: number }
  | { do: 'end'; which: number; ok: boolean; begun: boolean }
  | { do: 'heard'; node: string; state: NodeRecord['state'] };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('request' as const),
      kind: fc.constantFrom(...kinds),
      nodes: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 3 }),
      group: fc.nat(3),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('move' as const), which: fc.nat(20) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('end' as const), which: fc.nat(20), ok: fc.boolean(), begun: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('heard' as const),
      node: fc.constantFrom(...NAMES),
      state: fc.constantFrom('Discovered' as const, 'Disappeared' as const),
    }),
  },
);

/** Single nodes that come and go, as masters or workers: where two requests can skew a rule over both. */
const lifecycle: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('request' as const),
      kind: fc.constantFrom('commission' as const, 'decommission' as const, 'maintenance' as const),
      nodes: fc.constantFrom(...NAMES).map((n) => [n]),
      group: fc.nat(1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move' as const), which: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      which: fc.nat(20),
      ok: fc.constant(true),
      begun: fc.constant(true),
    }),
  },
);

function ask(w: World, r: AdmissionRequest): void {
  const before = JSON.stringify([...w.nodes.values(), w.reservations]);
  try {
    const { nodes } = admit(r, {
      nodes: w.nodes,
      held: w.reservations.held,
      groups: defaultHostGroups,
      job: (id) => w.jobs.get(id),
      workloadsOn: () => [],
      straysOn: () => [],
      quarantined: () => undefined,
      queuedJobs: 0,
      provisionDrivers: ['ansible'],
    });
    const job = aJob({ id: `job-${++w.count}`, kind: r.kind, nodes, status: 'Queued', results: {} });
    if (r.hostGroup !== undefined) job.hostGroup = r.hostGroup;
    const twice = nodes.find((n) => w.reservations.held[n] !== undefined);
    if (twice !== undefined) throw new Error(`${twice} was admitted to a second job`);
    w.reservations = reserve(w.reservations, job, nodes);
    w.jobs.set(job.id, job);
    w.toMove.push(...nodes.map((node) => ({ job: job.id, node })));
  } catch (e) {
    const after = JSON.stringify([...w.nodes.values(), w.reservations]);
    if (!(e instanceof MusterError)) throw e;
    if (after !== before) throw new Error(`a refused request changed ${before} to ${after}`, { cause: e });
  }
}

function move(w: World, which: number): void {
  const next = w.toMove[which % Math.max(1, w.toMove.length)];
  if (!next) return;
  w.toMove = w.toMove.filter((m) => m !== next);
  const node = w.nodes.get(next.node);
  const job = w.jobs.get(next.job);
  // As the service does: only while the job still holds the node.
  if (!node || !job || w.reservations.held[next.node]?.job !== job.id) return;
  w.nodes.set(next.node, moveForJob(node, job) ?? node);
}

/** Only a job whose nodes have all followed has a record that a worker could take. */
function end(w: World, s: Extract<Step, { do: 'end' }>): void {
  const open = [...w.jobs.values()].filter((j) => !j.settled && !w.toMove.some((m) => m.job === j.id));
  const job = open[s.which % Math.max(1, open.length)];
  if (!job) return;
  const ended: JobRecord = { ...job, status: s.ok ? 'Complete' : 'Errored', settled: true };
  if (!s.begun && !s.ok) delete ended.startedAt;
  for (const name of job.nodes) {
    const node = w.nodes.get(name);
    if (!node) continue;
    ended.results[name] = { ok: s.ok, step: 'site', checksum: 's' };
    const { node: after } = settle(node, ended, { onReturn: 'resetup', at: 1 });
    w.nodes.set(name, after);
  }
  w.reservations = release(w.reservations, job.id) ?? w.reservations;
  w.jobs.set(job.id, ended);
}

const newWorld = (...others: NodeRecord[]): World => ({
  nodes: new Map([...NAMES.map((n) => aNode(n)), ...others].map((n) => [n.name, n])),
  reservations: noReservations,
  jobs: new Map(),
  toMove: [],
  count: 0,
});

function play(w: World, s: Step): void {
  if (s.do === 'request') {
    const group = groups[s.group];
    ask(w, { kind: s.kind, nodes: s.nodes, addresses: [], ...(group !== undefined && { hostGroup: group }) });
  } else if (s.do === 'move') move(w, s.which);
  else if (s.do === 'end') end(w, s);
  else {
    const n = w.nodes.get(s.node);
    if (n) w.nodes.set(s.node, { ...n, state: s.state });
  }
}

/** All that is open comes to its end, and succeeds. */
function settleAll(w: World): void {
  while (w.toMove.length > 0) move(w, 0);
  for (const j of [...w.jobs.values()]) if (!j.settled) end(w, { do: 'end', which: 0, ok: true, begun: true });
}

const transient = ['Provisioning', 'Cancelled', 'Maintenance'];

describe('random histories of requests and results', () => {
  it('leave no node in two jobs, none stuck, and no refused request behind', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const w = newWorld();
        for (const s of steps) {
          play(w, s);
          const open = [...w.jobs.values()].filter((j) => !j.settled);
          const holders = open.flatMap((j) => j.nodes);
          expect(new Set(holders).size).toBe(holders.length);
          for (const j of open) expect(heldBy(w.reservations, j.id).sort()).toEqual([...j.nodes].sort());
          for (const n of w.nodes.values()) if (transient.includes(n.status)) expect(holders).toContain(n.name);
          for (const [n, h] of Object.entries(w.reservations.held)) expect(w.jobs.get(h.job ?? '')?.nodes).toContain(n);
        }
        // Everything comes to an end: nothing held, nothing transient.
        settleAll(w);
        expect(w.reservations.held).toEqual({});
        expect([...w.nodes.values()].filter((n) => transient.includes(n.status))).toEqual([]);
      }),
      { numRuns: runs(1500) },
    );
  });

  it('never leave workers without a master where everything succeeds and is heard', () => {
    fc.assert(
      fc.property(fc.array(lifecycle, { maxLength: 40 }), (steps) => {
        const w = newWorld(aNode('a-1', { status: 'Allocated', hostGroup: 'service-master' }));
        for (const s of steps) play(w, s);
        settleAll(w);
        const allocated = [...w.nodes.values()].filter((n) => n.status === 'Allocated');
        const workers = allocated.filter((n) => n.hostGroup === 'service-worker');
        const masters = allocated.filter((n) => n.hostGroup === 'service-master');
        if (workers.length > 0) expect(masters.length).toBeGreaterThan(0);
      }),
      { numRuns: runs(1500) },
    );
  });
});
