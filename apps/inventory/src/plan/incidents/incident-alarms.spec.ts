import { describe, expect, it } from 'vitest';
import type { IncidentRecord, ObserverEvidence, OwnProbe, PowerCommand, SshSign, StormView } from '#contracts';
import { aNode, anIncident, aVerdict, anOwnProbe } from '../../testing/records.js';
import { alarmsOf, alarmsOfStorms, eachOnce, leftOff, type IncidentAlarmFacts } from './incident-alarms.js';

describe('the alarms of incidents', () => {
  const fencing = anIncident('n-1', { phase: 'fencing' });
  const by = (o: Partial<IncidentAlarmFacts> = {}): IncidentAlarmFacts => ({
    nodeOf: () => undefined,
    isStuck: () => false,
    workOn: () => [],
    ...o,
  });
  const of = (stuck: boolean, i = fencing) => alarmsOf(i, by({ isStuck: () => stuck }));

  it('tell of an order that nobody carries out', () => {
    expect(of(true)).toEqual([
      expect.objectContaining({ code: 'fencing-failed', subject: 'n-1', severity: 'critical' }),
    ]);
    expect(of(true)[0]?.message).toContain('no fencer');
  });
  it('stand, with the same words, from the first failure until it is fenced, also while it is tried again', () => {
    const steps = [
      { phase: 'fencing' as const, at: 1, detail: 'All gates pass.' },
      { phase: 'failed' as const, at: 2, detail: 'No level is left: bmc: power on.' },
    ];
    const failed = of(false, anIncident('n-1', { phase: 'failed', attempt: 0, steps }));
    expect(failed).toMatchObject([{ code: 'fencing-failed', message: expect.stringContaining('bmc: power on') }]);
    const again = [...steps, { phase: 'fencing' as const, at: 3, detail: 'Tried again, attempt 2.' }];
    for (const stuck of [false, true])
      expect(of(stuck, anIncident('n-1', { phase: 'fencing', attempt: 1, steps: again }))).toEqual(failed);
    expect(of(false, anIncident('n-1', { phase: 'fenced', attempt: 1, steps: again }))).toEqual([]);
  });

  it('name the work that runs nowhere as long as they stand, and not where its host may live', () => {
    const suppressed = (gate: 'NOT_FENCEABLE' | 'LIFE_SIGN') =>
      alarmsOf(
        anIncident('n-1', { phase: 'suppressed', gate, gates: [{ gate, pass: false, detail: 'No device.' }] }),
        by({ workOn: () => ['db', 'web'] }),
      )[0];
    expect(suppressed('NOT_FENCEABLE')).toEqual({
      code: 'not-fenceable',
      subject: 'n-1',
      severity: 'critical',
      message: 'It seems dead and is not fenced. No device. Runs nowhere: db, web.',
    });
    expect(suppressed('LIFE_SIGN')?.message).not.toContain('Runs nowhere');
  });

  it('do not call a machine dead, nor its work ended, that an operator wants off and that is heard', () => {
    const of = (gate: 'NOT_FENCEABLE' | 'LIFE_SIGN', state: 'Discovered' | 'Disappeared') =>
      alarmsOf(
        anIncident('n-1', {
          cause: 'manual',
          phase: 'suppressed',
          gate,
          gates: [{ gate, pass: false, detail: 'Why.' }],
        }),
        by({ nodeOf: () => aNode('n-1', { state }), workOn: () => ['db'] }),
      );
    const ordered = { code: 'fencing-suppressed', subject: 'n-1', severity: 'critical' };
    const refused = 'Its power-off was ordered, and is not given.';
    expect(of('NOT_FENCEABLE', 'Discovered')).toEqual([{ ...ordered, message: `${refused} NOT_FENCEABLE: Why.` }]);
    expect(of('LIFE_SIGN', 'Discovered')).toEqual([{ ...ordered, message: `${refused} LIFE_SIGN: Why.` }]);
    expect(of('NOT_FENCEABLE', 'Disappeared')).toEqual([
      { ...ordered, message: `${refused} NOT_FENCEABLE: Why. Runs nowhere: db.` },
    ]);
  });

  it('do not call a machine dead that was released by force while it was heard', () => {
    const released = { by: 'eve', reason: 'x', at: 1, gates: ['BLIND' as const], force: true };
    const codes = (wantedAt: 'UP' | 'DOWN'): string[] =>
      (['NOT_FENCEABLE', 'LIFE_SIGN'] as const).map((gate) => {
        const gates = [{ gate, pass: false, detail: 'Why.' }];
        return (
          alarmsOf(anIncident('n-1', { phase: 'suppressed', gate, gates, released, wantedAt }), by())[0]?.code ?? ''
        );
      });
    expect(codes('UP')).toEqual(['fencing-suppressed', 'fencing-suppressed']);
    expect(codes('DOWN')).toEqual(['not-fenceable', 'partial-reachability']);
  });

  describe('of a storm', () => {
    const storm: StormView = {
      ...{ id: 's-1', cause: 'brake', at: 1, members: ['n-1', 'n-2', 'n-3'], returned: [], released: [] },
      ...{ rest: ['n-1', 'n-2', 'n-3'], limit: 2, standsForMs: 0, detail: '' },
    };
    const minutes = (n: number): number => n * 60_000;
    const said = (...storms: StormView[]): string[] =>
      eachOnce(alarmsOfStorms(storms)).map((a) => `${a.code}=${a.subject}: ${a.message}`);

    it('is told anew every quarter of an hour where it does not end by itself, and not in between', () => {
      const told = [0, 14, 15, 29, 30].map((n) => said({ ...storm, standsForMs: minutes(n) })[0]);
      expect(told[0]).toContain('brake=fleet: Fencing is braked: 3 of 3 node(s) of storm s-1 are not back');
      expect([told[0] === told[1], told[1] === told[2], told[2] === told[3], told[3] === told[4]]).toEqual([
        ...[true, false, true, false],
      ]);
    });

    it('is told once where it ends by itself', () => {
      const ending = { ...storm, rest: ['n-1'], resumesAt: 9 };
      expect(said({ ...ending, standsForMs: minutes(30) })).toEqual(said(ending));
    });

    it('is about its failure domain where that fell; of several of the fleet the one that an operator must end', () => {
      expect(said({ ...storm, cause: 'domain', domain: 'rack-1' })[0]).toContain('domain-down=rack-1: ');
      expect(said({ ...storm, id: 's-2', rest: [], resumesAt: 9 }, storm)).toEqual(said(storm));
    });
  });

  describe('of a node that is held by a sign of life', () => {
    const held = (
      ssh: SshSign,
      stance: ObserverEvidence['stance'],
      o: Partial<IncidentRecord> = {},
      probe: Partial<OwnProbe> = {},
    ): IncidentRecord => {
      const { evidence } = aVerdict('n-1');
      const observer = { observer: 'n-2', network: 'management', misses: 9, reportAgeMs: 100, stance };
      const verdict = aVerdict('n-1', {
        evidence: { ...evidence, observers: [observer], ownProbe: anOwnProbe({ ssh, ...probe }) },
      });
      const gates = [{ gate: 'LIFE_SIGN' as const, pass: false, detail: 'It lives.' }];
      return anIncident('n-1', { phase: 'suppressed', gate: 'LIFE_SIGN', gates, verdict, ...o });
    };
    const said = (i: IncidentRecord): string[] => of(false, i).map((a) => `${a.code}=${a.subject}: ${a.message}`);

    it('say that its agent is down where only ssh answers', () => {
      expect(said(held('banner', 'accuses'))).toEqual(['agent-down=n-1: It lives.']);
    });

    it('say that it can be reached in part where an agent still hears it', () => {
      expect(said(held('banner', 'hears'))).toEqual(['partial-reachability=n-1: It lives.']);
      expect(said(held('silent', 'hears'))).toEqual(['partial-reachability=n-1: It lives.']);
    });

    it('say that it is hung where its kernel answers, and that it is not fenced where nothing can tell', () => {
      expect(said(held('refused', 'accuses'))).toEqual(['host-hung=n-1: It lives.']);
      expect(said(held('silent', 'accuses', {}, { spoke: [] }))).toEqual([
        'fencing-suppressed=n-1: LIFE_SIGN: It lives.',
      ]);
    });

    it('are over with the incident', () => {
      expect(said(held('banner', 'accuses', { phase: 'cancelled' }))).toEqual([]);
      expect(said(held('banner', 'accuses', { phase: 'investigating' }))).toEqual([]);
    });
  });

  it('leave one alone that is on its way, and one that is through', () => {
    expect(of(false)).toEqual([]);
    expect(of(true, anIncident('n-1', { phase: 'recovering' }))).toEqual([]);
  });
});

describe('a drill whose machine is not on again', () => {
  const off: PowerCommand = {
    ...{ n: 1, epoch: 1, fencer: 'f', attempt: 1, level: 0, device: 'bmc', verb: 'off', at: 1 },
  };
  const order = { action: 'on', by: 'eve', reason: 'r', at: 1, after: 1, ok: false, detail: 'No answer.' } as const;
  const drilled = anIncident('n-1', { phase: 'cancelled', drill: { at: 1 }, order, commands: [off] });
  const away = aNode('n-1', { state: 'Disappeared' });

  it('is told of until it is heard, or forgotten', () => {
    expect(leftOff(drilled, away)).toMatchObject({ code: 'power-on-withheld', severity: 'critical' });
    expect(leftOff(drilled, aNode('n-1'))).toBeUndefined();
    expect(leftOff(drilled, undefined)).toBeUndefined();
  });

  it('is not one that was given up before its off', () => {
    expect(leftOff({ ...drilled, commands: [] }, away)).toBeUndefined();
  });
});
