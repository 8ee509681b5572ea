import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { IncidentPhases, type IncidentPhase, type PowerCommand } from '#contracts';
import { anIncident } from '#contracts/testing/an-incident.js';
import { mayCancel, mayGo, phaseChanges, type PhaseWriter } from './phases.js';
import { retryBackoff } from './retry.js';
import { go, MOST_STEPS, note, orderedOff } from './steps.js';

const WRITERS: readonly PhaseWriter[] = ['inventory', 'fencer'];
const off: PowerCommand = { n: 1, epoch: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off', at: 1 };

/**
 * Where each phase may lead, without an `off` and after one, as it was allowed when inventory and fencer wrote phases by
 * a rule each. Written by that code, not by the table.
 */
const allowed: Record<IncidentPhase, [before: string, after: string]> = {
  open: ['investigating fenced suppressed cancelled', 'investigating fenced suppressed'],
  investigating: ['fencing fenced suppressed cancelled', 'fencing fenced suppressed'],
  fencing: ['fenced suppressed failed survived cancelled', 'fenced failed survived'],
  fenced: ['recovering failed', 'recovering failed'],
  recovering: ['recovered failed', 'recovered failed'],
  recovered: ['closed failed', 'closed failed'],
  closed: ['', ''],
  suppressed: ['investigating fencing fenced cancelled', 'investigating fencing fenced'],
  failed: ['fencing fenced suppressed survived cancelled', 'fencing fenced survived'],
  survived: ['', ''],
  cancelled: ['', ''],
};

const leadsTo = (phase: IncidentPhase, commands: PowerCommand[], by: readonly PhaseWriter[]): string[] =>
  IncidentPhases.filter((to) => by.some((writer) => mayGo(anIncident('n-1', { phase, commands }), to, writer)));

describe('the table of phases', () => {
  it.each(IncidentPhases)('leads from %s where it led, and nowhere else', (phase) => {
    const [before, after] = allowed[phase];
    const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
    expect(leadsTo(phase, [], WRITERS).sort()).toEqual(words(before).sort());
    expect(leadsTo(phase, [off], WRITERS).sort()).toEqual(words(after).sort());
    // A read changes nothing.
    expect(leadsTo(phase, [{ ...off, verb: 'status' }], WRITERS).sort()).toEqual(words(before).sort());
  });

  it('lets a fencer say that it has powered off, or has failed to, and nothing else', () => {
    const said = IncidentPhases.flatMap((from) => leadsTo(from, [off], ['fencer']).map((to) => `${from} ${to}`));
    expect(said).toEqual(['fencing fenced', 'fencing failed']);
    // That a fencing under way has failed is the fencer's word alone.
    expect(mayGo(anIncident('n-1', { phase: 'fencing' }), 'failed')).toBe(false);
  });

  it('has each change once', () => {
    const changes = phaseChanges.map((c) => `${c.from} ${c.to}`);
    expect(new Set(changes).size).toBe(changes.length);
  });

  it('is what a change is written by', () => {
    for (const phase of IncidentPhases)
      for (const commands of [[], [off]])
        for (const by of WRITERS)
          for (const to of IncidentPhases) {
            const i = anIncident('n-1', { phase, commands });
            const write = (): unknown => go(i, to, 'x', 1, by);
            if (mayGo(i, to, by)) expect(write()).toMatchObject({ phase: to });
            else expect(write).toThrow('it cannot become');
          }
  });
});

describe('an incident', () => {
  it('that is cancelled takes the second half of a cycle with it, and no order that was dealt with', () => {
    const order = { action: 'on' as const, by: 'eve', reason: 'x', at: 1, after: 0 };
    const cancelled = go(anIncident('n-1', { phase: 'suppressed', order }), 'cancelled', 'x', 2);
    expect(cancelled.order).toMatchObject({ action: 'on', done: true, ok: false });
    const done = { ...order, done: true, ok: true };
    expect(go(anIncident('n-1', { phase: 'suppressed', order: done }), 'cancelled', 'x', 2).order).toEqual(done);
    expect(go(anIncident('n-1', { phase: 'recovering', order }), 'recovered', 'x', 2).order).toEqual(order);
  });

  it('that failed waits by the clock of the fencer, whatever other clocks have noted since', () => {
    const failed = {
      ...go(anIncident('n-1', { phase: 'fencing' }), 'failed', 'no answer', 5_000_000, 'fencer'),
      retryAt: 5_020_000,
    };
    expect(retryBackoff(failed)).toBe(20_000);
    expect(retryBackoff(note(failed, 'eve paused fencing', 5_000_000 - 3_600_000))).toBe(20_000);
    const again = go(go(failed, 'fencing', 'tried again', 5_021_000), 'failed', 'no answer', 5_030_000, 'fencer');
    expect(retryBackoff({ ...again, retryAt: 5_070_000 })).toBe(40_000);
  });

  it.each([
    ['open', ['investigating', 'fencing']],
    ['investigating', ['fencing']],
    ['suppressed', ['fencing']],
    ['failed', ['fencing']],
  ] as const)('that is %s is ordered off once its gates pass', (phase, told) => {
    const next = orderedOff(anIncident('n-1', { phase, steps: [] }), 'All gates pass.', 7);
    expect(next.phase).toBe('fencing');
    expect(next.steps.map((s) => s.phase)).toEqual(told);
    expect(next.steps.at(-1)).toEqual({ phase: 'fencing', at: 7, detail: 'All gates pass.' });
  });

  it('cannot be cancelled once an off was ordered, answered or not', () => {
    for (const phase of ['fencing', 'failed'] as const) {
      expect(mayCancel(anIncident('n-1', { phase }))).toBe(true);
      expect(mayCancel(anIncident('n-1', { phase, commands: [off] }))).toBe(false);
    }
  });

  it('reaches recovery through fenced and by no other way, whatever is tried', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ to: fc.constantFrom(...IncidentPhases), by: fc.constantFrom(...WRITERS), command: fc.boolean() }),
          { maxLength: 40 },
        ),
        (tries) => {
          let i = anIncident('n-1', { phase: 'open' });
          const way = ['open' as (typeof IncidentPhases)[number]];
          let commanded = false;
          for (const t of tries) {
            if (t.command && i.phase === 'fencing') {
              i = { ...i, commands: [...i.commands, off] };
              commanded = true;
            }
            if (!mayGo(i, t.to, t.by)) continue;
            if (commanded) expect(['cancelled', 'suppressed']).not.toContain(t.to);
            i = go(i, t.to, 'x', 1, t.by);
            way.push(t.to);
          }
          if (way.includes('recovering')) expect(way[way.indexOf('recovering') - 1]).toBe('fenced');
          if (way.includes('recovered')) expect(way).toContain('fenced');
        },
      ),
    );
  });

  it('keeps its story within bounds', () => {
    let i = anIncident('n-1', { phase: 'fencing', commands: [off] });
    for (let n = 0; n < 400; n++) i = go(go(i, 'failed', 'x', n, 'fencer'), 'fencing', 'x', n);
    expect(i.steps.length).toBeLessThanOrEqual(MOST_STEPS);
  });
});
