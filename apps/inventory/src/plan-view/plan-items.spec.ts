import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  defaultSettings,
  GateCodes,
  IncidentPhases,
  type GateResult,
  type IncidentRecord,
  type NodeRecord,
  type PlanItem,
} from '#contracts';
import { decideIncident } from '#domain/incident/decide-incident.js';
import { isAfterOff } from '#domain/incident/phases.js';
import { isOpenIncident } from '#contracts';
import { placeWorkloads, type CandidateNode } from '#domain/workload/placement.js';
import type { GateFacts } from '#domain/incident/gates.js';
import { returnTable } from '#domain/return/return-table.js';
import { PERIOD_MS } from '../conductor/task.js';
import type { ProofStep } from '../plan/recovery/proof-step.js';
import { whyCalledOff } from '../plan/checks/checks-called-off.js';
import { CHECK_DUE } from '../plan/checks/periodic-checks.js';
import { incidentStep, openingStep, stoppedStep } from '../plan/incidents/incident-step.js';
import type { ReturnNow } from '../plan/returns/returns.js';
import { decideMoves } from '../plan/workloads/decide-moves.js';
import { stopStep } from '../plan/workloads/stop-step.js';
import { aJob } from '../testing/fixtures.js';
import { aNode, anIncident, aVerdict, aWorkload } from '../testing/records.js';
import type { PlanFacts } from './plan-facts.js';
import { planItems } from './plan-items.js';

const verdict = fc.constantFrom('UP', 'DOWN', 'SUSPECT', 'UNKNOWN', 'DEGRADED') as fc.Arbitrary<'UP' | 'DOWN'>;

interface Drawn {
  facts: PlanFacts;
  /** By the deciders themselves: whether any of them does anything. */
  acts: boolean;
}

/** A fleet of few nodes and workloads, as each decider sees it. */
const drawn: fc.Arbitrary<Drawn> = fc
  .record({
    mode: fc.constantFrom('observe', 'enforce') as fc.Arbitrary<'observe' | 'enforce'>,
    nodes: fc.array(
      fc.record({
        verdict,
        phase: fc.option(fc.constantFrom(...IncidentPhases), { nil: undefined }),
        commanded: fc.boolean(),
        leftMs: fc.constantFrom(0, 5_000),
        status: fc.constantFrom('Allocated', 'Unallocated') as fc.Arbitrary<'Allocated' | 'Unallocated'>,
        leftAlone: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    workloads: fc.array(
      fc.record({
        desired: fc.constantFrom('running', 'stopped') as fc.Arbitrary<'running' | 'stopped'>,
        on: fc.option(fc.nat(2), { nil: undefined }),
        stop: fc.boolean(),
        reported: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
    draining: fc.array(fc.nat(2), { maxLength: 1 }),
  })
  .map((d) => {
    const settings = defaultSettings('spec');
    settings.fencing.mode = d.mode;
    const names = ['n-0', 'n-1', 'n-2'];
    const nodes = names.map((name, n): NodeRecord => aNode(name, { ...(d.nodes[n] && { status: d.nodes[n].status }) }));
    const all = d.workloads.map((w, n) =>
      aWorkload(`w-${n}`, {
        desired: w.desired,
        ...(w.on !== undefined && { assignment: { node: `n-${w.on}`, generation: 1 } }),
        ...(w.stop && w.on !== undefined && { stop: { cause: 'drain', attempt: 0 } }),
      }),
    );
    const on = (node: string) => all.filter((w) => w.assignment?.node === node);
    const open = d.nodes.flatMap((o, n) => {
      if (o.phase === undefined) return [];
      const at = 1;
      const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at, endedAt: at };
      const incident = anIncident(`n-${n}`, { phase: o.phase, commands: o.commanded ? [off] : [] });
      if (!isOpenIncident(incident) || isAfterOff(incident)) return [];
      const node = nodes[n] as NodeRecord;
      const facts: GateFacts = {
        cause: 'auto',
        node,
        settings,
        wallNow: 1,
        verdict: aVerdict(node.name, { verdict: o.verdict }),
      };
      const step = incidentStep(incident, decideIncident(incident, facts, false), {
        node,
        hasWorkloads: on(node.name).length > 0,
        quarantineLeftMs: () => o.leftMs,
        stoppedForMs: () => 0,
        isContradicted: () => false,
        collateral: () => undefined,
        retryInMs: () => o.leftMs,
        isIdentityUnanswered: () => false,
        unidentifiedForMs: () => 0,
      });
      return [{ incident, facts, step }];
    });
    const opening = d.nodes.flatMap((o, n) => {
      const node = nodes[n] as NodeRecord;
      const last = o.phase === undefined ? undefined : anIncident(node.name, { phase: o.phase });
      const view = { hasWorkloads: on(node.name).length > 0, isLeftAlone: o.leftAlone, isIdentityPending: false };
      return o.verdict === 'DOWN' ? [{ node, step: openingStep(node, last, view), last }] : [];
    });
    const candidates: CandidateNode[] = names.map((name) => ({ name, capacity: Infinity, used: 0, reserve: false }));
    const stops = all.flatMap((workload, n) => {
      const report = { workloads: d.workloads[n]?.reported === true ? [{ name: workload.name, generation: 1 }] : [] };
      const step = stopStep({
        ...{ workload, report, seenForMs: 10_000, sinceFailureMs: 0 },
        ...{ isAbsentLongEnough: true, isUngated: false },
      });
      return step === 'done' ? [] : [{ workload, step, leftMs: 0, isSilent: false }];
    });
    const plan = decideMoves({
      leaving: new Map(d.draining.map((n) => [`n-${n}`, 'drain'])),
      workloads: all,
      candidates,
      reported: (node) => new Set(on(node).map((w) => w.name)),
      isInIncident: () => false,
      unheard: () => ({ silent: [], named: [], ungated: [] }),
      now: 1,
    });
    const waiting = all.filter((w) => w.desired === 'running' && w.assignment === undefined);
    const places = placeWorkloads(waiting, candidates);
    const facts: PlanFacts = {
      fencing: settings.fencing,
      incidents: { opening, open },
      dead: [],
      power: [],
      storms: [],
      workloads: places.map((p) => ({
        workload: waiting.find((w) => w.name === p.workload) ?? aWorkload(p.workload),
        do: 'place',
        to: p.to ?? '',
        why: p.why,
      })),
      stops,
      absences: [],
      moves: { leaving: new Map(), moving: [], plan, hindered: new Map() },
      returns: [],
      checks: { begin: [], off: [] },
      jobs: [],
      cordons: [],
      wallMs: 1,
    };
    const acts =
      open.some(({ step }) => step.do !== 'wait') ||
      opening.some(({ step }) => step === 'open' || step === 'close') ||
      stops.some(({ step }) => step !== 'wait') ||
      plan.begin.length + plan.release.length > 0 ||
      places.length > 0;
    return { facts, acts };
  });

describe('the plan of a random fleet', () => {
  it('says that there is nothing to do only where no decider does anything', () => {
    let nothing = 0;
    fc.assert(
      fc.property(drawn, ({ facts, acts }) => {
        const items = planItems(facts);
        if (items.length === 0) nothing += 1;
        return items.length > 0 || !acts;
      }),
      { numRuns: 2_000 },
    );
    expect(nothing).toBeGreaterThan(0);
  });

  it('names the gate that stops an incident, and its figures where it counts', () => {
    fc.assert(
      fc.property(fc.constantFrom(...GateCodes), fc.boolean(), (gate, observe) => {
        const incident = anIncident('n-0', { phase: 'suppressed', gate });
        const stops: GateResult = { gate, pass: false, detail: 'so it is.' };
        const step = { do: 'suppress' as const, gate: stops, gates: [stops] };
        const facts = {
          ...empty,
          incidents: { opening: [], open: [{ incident, step, ...(observe && { enforced: step }) }] },
        };
        const [item] = planItems(facts);
        expect(item).toMatchObject({ gate, does: observe ? 'would' : 'waits', name: 'n-0' });
        expect(item?.next).toBe(observe ? `would be blocked by ${gate}` : `stays blocked by ${gate}`);
        expect(item?.reason).toBe(observe ? 'so it is. The mode is observe.' : 'so it is.');
        expect(item?.again.when).not.toBe(undefined);
      }),
    );
  });

  it('names the gate at which one waits that was ordered off before', () => {
    fc.assert(
      fc.property(fc.constantFrom(...GateCodes), fc.boolean(), (gate, observe) => {
        const off = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 1 };
        const incident = anIncident('n-0', { phase: 'failed', commands: [off] });
        const stops: GateResult = { gate, pass: false, detail: 'so it is.' };
        const step = stoppedStep(incident, stops, [stops]);
        const facts = {
          ...empty,
          incidents: { opening: [], open: [{ incident, step, ...(observe && { enforced: step }) }] },
        };
        expect(planItems(facts)).toMatchObject([
          {
            ...{ gate, does: observe ? 'would' : 'waits', name: 'n-0', again: { when: expect.any(String) } },
            next: `${observe ? 'would stay' : 'stays'} at gate ${gate}`,
          },
        ]);
      }),
    );
  });

  it('names the gate at which an incident was stopped while its power devices are asked again whose they are', () => {
    const incident = anIncident('n-0', { phase: 'suppressed', gate: 'BRAKE' });
    const reason = 'Its power devices are being asked whether they are its own.';
    const step = { do: 'wait' as const, by: 'identity' as const, reason };
    const [item] = planItems({ ...empty, incidents: { opening: [], open: [{ incident, step }] } });
    expect(item).toMatchObject({
      does: 'waits',
      gate: 'BRAKE',
      reason: `${reason} Until then it is blocked by BRAKE.`,
    });
  });
});

it('says why a dead node gets no incident, while nothing of it is to be recovered', () => {
  const opening = (status: 'Unallocated' | 'Decommissioned', last?: IncidentRecord) => {
    const node = aNode('n-0', { status });
    const step = openingStep(node, last, { hasWorkloads: false, isLeftAlone: false, isIdentityPending: false });
    return planItems({ ...empty, incidents: { opening: [{ node, step, last }], open: [] } });
  };
  for (const status of ['Unallocated', 'Decommissioned'] as const)
    for (const last of [undefined, anIncident('n-0', { phase: 'closed' })])
      expect(opening(status, last)).toMatchObject([
        {
          ...{ about: 'incident', name: 'n-0', nodes: ['n-0'], does: 'waits', next: 'opens an incident' },
          reason: `Its status is ${status}, and no workload is assigned to it: there is nothing to recover.`,
          again: { when: 'it is Allocated, or a workload is assigned to it' },
        },
      ]);
  // What it has is shown by itself.
  expect(opening('Unallocated', anIncident('n-0', { phase: 'recovered' }))).toEqual([]);
});

it('says of what waits what it waits to do, so that "waits" stands before it once', () => {
  const incident = anIncident('n-0', { phase: 'failed' });
  const step = { do: 'wait' as const, by: 'backoff' as const, reason: 'Its last fencing failed.', leftMs: 5_000 };
  const node = aNode('n-1');
  const items = (observe: boolean): PlanItem[] =>
    planItems({
      ...empty,
      incidents: {
        opening: [{ node, step: 'left-alone', last: undefined }],
        open: [{ incident, step, ...(observe && { enforced: step }) }],
      },
    });
  expect(items(false).map((i) => [i.name, i.does, i.next])).toEqual([
    ['n-1', 'waits', 'opens an incident'],
    ['n-0', 'waits', 'is fenced again'],
  ]);
  expect(items(true).find((i) => i.name === 'n-0')).toMatchObject({
    does: 'would',
    next: 'would be fenced again',
  });
});

it('names the nodes whose periodic check begins, and the checks that are called off', () => {
  const off = [aJob({ id: 'job-1', kind: 'check', nodes: ['n-1'] })];
  const items = planItems({ ...empty, checks: { begin: ['n-0'], off } });
  expect(items.map((i) => [i.about, i.name, i.does, i.next])).toEqual([
    ['check', 'n-1', 'acts', 'calls job-1 off'],
    ['check', 'n-0', 'acts', 'checks it'],
  ]);
  expect(items.map((i) => i.reason)).toEqual([...off.map(whyCalledOff), CHECK_DUE]);
});

it('says what a job waits for whose nodes are to be empty', () => {
  const jobs = [aJob({ id: 'job-1', kind: 'maintenance', nodes: ['n-0'], status: 'Queued', moving: ['db'] })];
  const none = { leaving: new Map(), moving: [], plan: { begin: [], release: [], stuck: new Map() } };
  const reasonWith = (hindered: ReadonlyMap<string, readonly string[]>): string | undefined =>
    planItems({ ...empty, jobs, moves: { ...none, hindered } })[0]?.reason;
  expect(reasonWith(new Map())).toBe('maintenance of n-0: db has to leave first.');
  const incident = new Map([['n-0', ['It has an open incident.']]]);
  expect(reasonWith(incident)).toBe('maintenance of n-0: It has an open incident.');
});

it('names jobs whose nodes have not followed, and the cordons that end by themselves', () => {
  const jobs = [aJob({ id: 'job-1', kind: 'check', nodes: ['n-0'], status: 'Errored', settled: false })];
  const cordon = { by: 'ann', reason: 'new disk', at: 1, until: 60_001 };
  const cordons = [
    { node: 'n-1', cordon, leftMs: 60_000 },
    { node: 'n-2', cordon, leftMs: 0 },
  ];
  const items = planItems({ ...empty, jobs, cordons });
  expect(items.map((i) => [i.about, i.name, i.does, i.next, i.again.inMs])).toEqual([
    ['job', 'job-1', 'acts', 'is settled', PERIOD_MS],
    ['cordon', 'n-2', 'acts', 'ends its cordon', PERIOD_MS],
    ['cordon', 'n-1', 'waits', 'ends its cordon', 60_000],
  ]);
  expect(items[0]?.reason).toContain('check of n-0 has ended, and its nodes have not followed.');
  expect(items[1]?.reason).toBe('ann cordoned it until then: new disk.');
});

describe('a node that is back', () => {
  const node = aNode('n-0', { pendingReturn: { reason: 'rebooted', at: 1 } });
  const itemBy = (row: ReturnNow['row'], o: Partial<ReturnNow> = {}): PlanItem | undefined => {
    const now: ReturnNow = { node, row, waitMs: 0, quarantine: undefined, quarantineLeftMs: 0, ...o };
    return planItems({ ...empty, returns: [now] })[0];
  };

  it('says of every row of the table by which it waits why, and until when', () => {
    const waits = Object.entries(returnTable).filter(([name, row]) => row.do === 'wait' && name !== 'QUARANTINED');
    const whens = waits.map(([name, row]) => {
      const item = itemBy(name as ReturnNow['row'], { waitMs: 5_000 });
      const reason = row.reason.replaceAll('`', '');
      expect(item).toMatchObject({ does: 'waits', reason: `It is back (rebooted) and waits: ${reason}.` });
      return item?.again.when;
    });
    expect(new Set(whens.filter((when) => when !== undefined)).size).toBe(waits.length - 1);
    expect(itemBy('CORDONED')?.again).toEqual({ when: 'it is uncordoned' });
    expect(itemBy('CHECKED_IN_VAIN', { waitMs: 5_000 })?.again).toEqual({ inMs: 5_000 });
  });

  it('says what is done about it by the row that does something', () => {
    expect(itemBy('NOT_CHECKED')).toMatchObject({
      ...{ does: 'waits', next: 'checks it', reason: 'It is back (rebooted): its check is due.' },
      again: { when: 'its turn comes' },
    });
    expect(itemBy('FLAPPING')).toMatchObject({ does: 'acts', next: 'asks an operator', again: { inMs: PERIOD_MS } });
  });

  it('waits for the end of a power quarantine only where that is what stops it', () => {
    const o = { quarantine: 'a power-off may still take effect', quarantineLeftMs: 5_000 };
    expect(itemBy('QUARANTINED', o)?.again).toEqual({ inMs: 5_000 });
    expect(itemBy('CORDONED', o)?.again).toEqual({ when: 'it is uncordoned' });
  });

  it('says that nobody knows yet what runs there, where no row decides', () => {
    const due = aNode('n-0', { pendingReturn: { reason: 'rebooted', at: 1, next: 'resetup' } });
    const item = itemBy(undefined, { node: due });
    expect(item).toMatchObject({ does: 'waits', next: 'sets it up again' });
    expect(item?.reason).toContain('nobody has said yet whether anything runs there');
  });
});

it('says of an order to the power that it comes after the incident', () => {
  const order = { action: 'soft' as const, by: 'ada', reason: 'new memory', at: 1, after: 0 };
  const incident = anIncident('n-0', { phase: 'suppressed', gate: 'BRAKE', order });
  const power = [{ incident, node: aNode('n-0'), isContradicted: false, quarantineLeftMs: 0 }];
  expect(planItems({ ...empty, power })).toMatchObject([
    {
      ...{ about: 'power', does: 'waits', next: 'asks its system to shut down' },
      reason: 'ada ordered it (new memory). Its incident comes first: it is blocked by BRAKE.',
      again: { when: 'its incident is recovered or over' },
    },
  ]);
});

it('says of what is to leave a silent node what that node has to do first', () => {
  const move = { from: 'n-0', to: 'n-1', cause: 'start-failed' } as const;
  const workload = aWorkload('w1', { assignment: { node: 'n-0', generation: 2 }, move });
  const itemWhere = (isSilent: boolean): PlanItem | undefined =>
    planItems({ ...empty, stops: [{ workload, step: 'wait', leftMs: 0, isSilent }] })[0];
  expect(itemWhere(false)).toMatchObject({ does: 'waits', next: 'is stopped on n-0', reason: 'It is to move to n-1.' });
  expect(itemWhere(true)?.reason).toBe(
    'It is to move to n-1. n-0 is silent: nothing counts as stopped there until it speaks, or is proven off.',
  );
});

describe('a proof of off', () => {
  const incident = anIncident('n-0', { phase: 'fenced' });
  const itemOf = (proof: ProofStep): PlanItem | undefined => {
    const power = [{ incident, node: aNode('n-0'), proof, isContradicted: false, quarantineLeftMs: 0 }];
    return planItems({ ...empty, power }).find((i) => i.about === 'incident');
  };

  it('waits in the plan until somebody sees whom an off of a device has hit that is not proven', () => {
    const reasonWhere = (sighted: boolean) => itemOf({ do: 'wait', for: 'collateral', sighted })?.reason;
    expect(reasonWhere(true)).toMatch(/its word counts a moment later/);
    expect(reasonWhere(false)).toMatch(/no detector with a quorum knows whether/);
  });

  it('waits in the plan until somebody sees what its drill has shown', () => {
    const itemWhere = (sighted: boolean) => itemOf({ do: 'wait', for: 'drill', sighted });
    expect(itemWhere(true)).toMatchObject({ does: 'waits', next: 'judges its drill' });
    expect(itemWhere(true)?.reason).toMatch(/is seen a moment later/);
    expect(itemWhere(false)?.reason).toMatch(/No detector with a quorum knows who fell silent/);
  });

  it('stands in the plan as held by whom it may have hit, whether the record names them already or not', () => {
    const nodes = [{ node: 'n-3' }];
    const item = itemOf({ do: 'held', nodes });
    expect(item).toMatchObject({ does: 'waits', next: 'recovers nothing' });
    expect(item?.reason).toContain('n-3');
    expect(itemOf({ do: 'note', collateral: { do: 'hold', nodes, changed: true } })).toEqual(item);
  });

  it('stands in the plan with the reason why it stands for nothing', () => {
    const collateral = { do: 'anew', why: 'Its power devices were edited after the order to power it off' } as const;
    const next = 'powers it off anew';
    expect(itemOf({ do: 'note', collateral })).toMatchObject({ next, reason: `${collateral.why}.` });
  });
});

const empty: PlanFacts = {
  fencing: defaultSettings('spec').fencing,
  incidents: { opening: [], open: [] },
  dead: [],
  power: [],
  storms: [],
  workloads: [],
  stops: [],
  absences: [],
  moves: undefined,
  returns: [],
  checks: { begin: [], off: [] },
  jobs: [],
  cordons: [],
  wallMs: 1,
};
