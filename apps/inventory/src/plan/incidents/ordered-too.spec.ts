import { describe, expect, it } from 'vitest';
import type { IncidentRecord, PowerOrder, VerdictKind } from '#contracts';
import { decideIncident } from '#domain/incident/decide-incident.js';
import { verdictEffect } from '#domain/incident/verdict-effect.js';
import { foundDead } from '../../testing/investigation.js';
import { aNode, anIncident, aVerdict, enforced } from '../../testing/records.js';
import { decidePowerOn } from '../recovery/power-on.js';
import { orderedToo, type OrderToFence } from './ordered-too.js';

const eve: OrderToFence = { by: 'eve', reason: 'smoke', at: 9, wantedAt: 'UP' };
const on: PowerOrder = { action: 'on', by: 'bob', reason: 'memory', at: 1, after: 0 };
const effect = (i: IncidentRecord, verdict: VerdictKind): string => verdictEffect(i, { verdict, reason: 'x' }).kind;

describe('an order to fence a node whose incident is open', () => {
  it('makes that of a verdict one by hand: whose, why and when; what opened it stays in its story', () => {
    const auto = anIncident('n-1', { phase: 'suppressed', gate: 'BRAKE' });
    const i = orderedToo(auto, eve);
    expect(i).toMatchObject({ phase: 'suppressed', gate: 'BRAKE', cause: 'manual', by: 'eve', reason: 'smoke' });
    expect(i).toMatchObject({ orderedAt: 9, wantedAt: 'UP', updatedAt: 9 });
    expect(i.steps.slice(0, -1)).toEqual(auto.steps);
    expect(i.steps.at(-1)?.detail).toBe(`eve ordered it too: smoke (opened by a verdict: ${auto.reason})`);
  });

  it('is not cancelled by a verdict, as no order by hand is; only by life where nobody heard the node', () => {
    for (const phase of ['investigating', 'suppressed', 'fencing'] as const) {
      const auto = anIncident('n-1', { phase });
      const i = orderedToo(auto, eve);
      for (const v of ['UP', 'DEGRADED', 'LEFT', 'UNKNOWN', 'SUSPECT'] as const) expect(effect(i, v)).toBe('stands');
      const silent = orderedToo(auto, { ...eve, wantedAt: 'DOWN' });
      expect(effect(silent, 'LEFT')).toBe('stands');
      for (const v of ['UP', 'DEGRADED'] as const) expect(effect(silent, v)).toBe('cancel');
    }
  });

  it('leaves an order by hand to who gave it first, and notes who gave it again', () => {
    const i = orderedToo(anIncident('n-1', { cause: 'manual', by: 'bob', reason: 'noise', wantedAt: 'DOWN' }), eve);
    expect(i).toMatchObject({ cause: 'manual', by: 'bob', reason: 'noise', wantedAt: 'UP' });
    expect(i.orderedAt).toBeUndefined();
    expect(i.steps.at(-1)?.detail).toBe('eve ordered it too: smoke');
  });

  it('outlives the policy by which a DEGRADED node was to be fenced', () => {
    const node = aNode('n-1');
    const { gates } = foundDead(node, { verdict: aVerdict('n-1', { verdict: 'DEGRADED' }) });
    const facts = { ...gates, settings: { ...enforced(), degraded: { policy: 'alarm' as const, after: 30_000 } } };
    const auto = anIncident('n-1', { phase: 'suppressed', degraded: true });
    expect(decideIncident(auto, facts, false).do).toBe('cancel');
    const i = orderedToo(auto, { ...eve, wantedAt: 'DEGRADED' });
    expect(decideIncident(i, { ...facts, cause: i.cause }, false)).toMatchObject({
      ...{ do: 'suppress', gate: { gate: 'LIFE_SIGN' } },
    });
  });

  it('passes no gate by a release that is over: it was given while nobody heard the node, which is heard again', () => {
    const released = { by: 'bob', reason: 'x', at: 1, gates: ['LIFE_SIGN' as const], force: true };
    const auto = anIncident('n-1', { phase: 'fencing', released, wantedAt: 'DOWN' });
    for (const wantedAt of ['UP', 'DEGRADED'] as const)
      expect(orderedToo(auto, { ...eve, wantedAt }).released).toBeUndefined();
    for (const wantedAt of ['DOWN', 'UNKNOWN'] as const)
      expect(orderedToo(auto, { ...eve, wantedAt }).released).toEqual(released);
    expect(orderedToo({ ...auto, wantedAt: 'UP' }, eve).released).toEqual(released);
  });

  it('keeps the node off after its recovery, and cancels a power-on that is still wanted', () => {
    const fencing = { afterRecovery: 'power-on', mode: 'enforce' } as const;
    const fenced = anIncident('n-1', { phase: 'fenced', proof: { kind: 'read-back', at: 1 } });
    expect(decidePowerOn(fenced, fencing, {}, 1e12).wanted).toBe(true);
    expect(decidePowerOn(orderedToo(fenced, eve), fencing, {}, 1e12).wanted).toBe(false);
    const powerOn = { wanted: true, requestedAt: 5 };
    const recovered = { ...fenced, phase: 'recovered' as const, powerOn };
    expect(orderedToo(recovered, eve).powerOn).toMatchObject({ wanted: false, detail: expect.stringContaining('eve') });
    const isBack = { ...recovered, powerOn: { ...powerOn, done: true, ok: true } };
    expect(orderedToo(isBack, eve)).toMatchObject({ cause: 'auto', powerOn: { wanted: true, done: true } });
  });

  it('of a cycle has the node switched on again; off, said after cycle, means that it stays off', () => {
    const auto = anIncident('n-1', { phase: 'fencing' });
    const cycle = orderedToo(auto, { ...eve, thenOn: on });
    expect(cycle).toMatchObject({ cause: 'manual', order: on });
    expect(orderedToo({ ...auto, order: { ...on, at: 2 } }, { ...eve, thenOn: on }).order?.at).toBe(2);
    expect(orderedToo(cycle, eve).order).toMatchObject({ done: true, ok: false, detail: 'eve ordered it off.' });
  });
});
