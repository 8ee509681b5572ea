import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { CheckResult, Finding } from '#contracts';
import { runs, SEED } from '#contracts/testing/chance.js';
import { checkVerdict, verdictTable, type CheckFacts, type CheckVerdict } from './check-verdict.js';

const of = (service: string, result: Finding['result'], why = ''): Finding => ({ service, result, why });
const web = of('web', 'ok');
const log = of('log', 'ok');
const told = (findings: Finding[], o: Partial<CheckResult> = {}): CheckFacts['told'] => ({
  ok: true,
  step: 'check',
  check: { findings, checksum: 'sum', ...o },
});
const facts = (o: Partial<CheckFacts>): CheckFacts => ({
  told: told([web, log]),
  provisioned: { checksum: 'sum', at: 1, job: 'job-0', services: ['web', 'log'] },
  wanted: undefined,
  ...o,
});
const drifted = of('web', 'drift', 'edited');
const unseen = of('log', 'unknown', 'no such module');

/** For each row facts of which no row before it holds. */
const cases: Record<keyof typeof verdictTable, [facts: Partial<CheckFacts>, says: CheckVerdict][]> = {
  NO_FINDINGS: [
    [{ told: { ok: false, step: 'check', message: 'no route' } }, { outcome: 'unknown', why: 'no route' }],
    [{ told: { ok: true, step: 'check' } }, { outcome: 'unknown', why: 'check ended without findings' }],
  ],
  DIFFERS: [
    [{ told: told([drifted, log]) }, { outcome: 'drift', why: 'web drift (edited)' }],
    [{ told: told([of('web', 'broken'), unseen]) }, { outcome: 'drift', why: 'web broken' }],
    [
      { told: told([drifted, log], { alone: ['web'] }) },
      { outcome: 'drift', why: 'web drift (edited)', only: ['web'] },
    ],
    [{ told: told([drifted], { alone: ['web'] }) }, { outcome: 'drift', why: 'web drift (edited)' }],
    [{ told: told([drifted, unseen], { alone: ['web', 'log'] }) }, { outcome: 'drift', why: 'web drift (edited)' }],
    [
      { told: told([drifted, log], { alone: ['web'], checksum: 'other' }) },
      { outcome: 'drift', why: 'web drift (edited)' },
    ],
    [
      { told: told([drifted, log], { alone: ['web'] }), provisioned: undefined },
      { outcome: 'drift', why: 'web drift (edited)' },
    ],
  ],
  NOT_SEEN: [[{ told: told([web, unseen]) }, { outcome: 'unknown', why: 'log could not be checked (no such module)' }]],
  NO_SERVICE: [
    [{ told: told([]) }, { outcome: 'unknown', why: 'it told of no service at all' }],
    [
      { told: told([]), provisioned: undefined },
      { outcome: 'unknown', why: 'it told of no service at all' },
    ],
  ],
  UNREPORTED: [[{ told: told([web]) }, { outcome: 'unknown', why: 'it did not tell of log, which was set up there' }]],
  OTHER_CONFIGURATION: [
    [
      { told: told([web, log], { checksum: 'other' }) },
      {
        outcome: 'drift',
        serves: true,
        why: 'the effective configuration is not the one that was provisioned last',
      },
    ],
  ],
  FAILED: [
    [{ told: { ...told([web, log]), ok: false } }, { outcome: 'unknown', why: 'check failed without a finding' }],
    [{ told: { ...told([web, log]), ok: false, message: 'killed' } }, { outcome: 'unknown', why: 'killed' }],
  ],
  WELL: [
    [{}, { outcome: 'pass', why: '' }],
    [
      { told: told([web]), provisioned: undefined },
      { outcome: 'pass', why: '' },
    ],
    [
      {
        told: told([drifted, log], { checksum: 'other' }),
        wanted: { covers: (f) => f === drifted, configuration: true },
      },
      { outcome: 'pass', why: '' },
    ],
  ],
};

describe('what a check says of its node', () => {
  it.each(Object.entries(cases).flatMap(([row, list]) => list.map(([f, says]) => [row, f, says] as const)))(
    'is by %s',
    (_row, f, says) => {
      expect(checkVerdict(facts(f))).toEqual(says);
    },
  );

  const some = fc.subarray(['web', 'log', 'db']);
  const finding = fc.record({
    service: fc.constantFrom('web', 'log', 'db'),
    result: fc.constantFrom<Finding['result'][]>('ok', 'ok', 'ok', 'drift', 'broken', 'unknown'),
    why: fc.constantFrom('', 'gone'),
  });
  const checks = fc.record(
    { findings: fc.array(finding, { maxLength: 4 }), checksum: fc.constantFrom('sum', 'other'), alone: some },
    { requiredKeys: ['findings', 'checksum'] },
  );
  const any = fc.record({
    told: fc.record(
      { ok: fc.boolean(), step: fc.constant('check'), message: fc.constant('killed'), check: checks },
      { requiredKeys: ['ok', 'step'] },
    ),
    provisioned: fc.option(
      fc.record(
        { checksum: fc.constant('sum'), at: fc.constant(1), job: fc.constant('job-0'), services: some },
        { requiredKeys: ['checksum', 'at', 'job'] },
      ),
      { nil: undefined },
    ),
    wanted: fc.option(
      fc.record({
        covers: fc.constantFrom<((f: Finding) => boolean)[]>(
          () => false,
          (f) => f.result === 'drift' && f.service === 'web',
        ),
        configuration: fc.boolean(),
      }),
      { nil: undefined },
    ),
  });

  it('is a pass only where all that was set up was seen, and is well or wanted so', () => {
    fc.assert(
      fc.property(any, (f) => {
        const { told: t, provisioned: p, wanted } = f;
        const seen = t.check?.findings ?? [];
        const isWell =
          t.ok &&
          seen.length > 0 &&
          seen.every((x) => x.result === 'ok' || (x.result !== 'unknown' && wanted?.covers(x) === true)) &&
          (p?.services ?? []).every((s) => seen.some((x) => x.service === s)) &&
          (p === undefined || p.checksum === t.check?.checksum || wanted?.configuration === true);
        expect(checkVerdict(f).outcome === 'pass').toBe(isWell);
      }),
      { seed: SEED, numRuns: runs(2_000) },
    );
  });

  it('is never beyond the table, and serves or names some services alone only in a drift', () => {
    fc.assert(
      fc.property(any, (f) => {
        const says = checkVerdict(f);
        expect(says.why).not.toContain('no rule');
        expect(says.outcome === 'pass').toBe(says.why === '');
        if (says.outcome !== 'drift') expect(says).toEqual({ outcome: says.outcome, why: says.why });
        if (says.serves) expect(f.told.check?.findings.some((x) => x.result === 'broken')).toBe(false);
        for (const s of says.only ?? []) expect(f.told.check?.alone).toContain(s);
      }),
      { seed: SEED, numRuns: runs(2_000) },
    );
  });
});
