import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decode, encode } from '../records/decode.js';
import { anIncident } from '../testing/an-incident.js';
import { runs } from '../testing/chance.js';
import { IncidentPhases, type IncidentRecord, type PowerCommand, type PowerOrder } from './incident.js';
import { incidentIn, powerRecordOf, type PowerRecord } from './power-record.js';

interface Line {
  bucket: string;
  key: string;
  value: IncidentRecord | null;
}

const written = readFileSync(join(process.cwd(), 'test/fixtures/store/eb7662b/store.ndjson'), 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Line)
  .flatMap(({ bucket, value }) => (bucket === 'incidents' && value !== null ? [value] : []));

const read = (node: string, text: string): unknown => {
  const decoded = decode('incidents', node, text);
  return 'why' in decoded ? decoded.why : decoded.value;
};

describe('a record of the first schema', () => {
  it('is stored in parts with its next write, and says the same', () => {
    expect(written.length).toBeGreaterThan(40);
    for (const was of written) {
      const text = encode('incidents', read(was.node, JSON.stringify(was)));
      expect(JSON.parse(text)).toMatchObject({ schema: 2, node: was.node, log: { commands: was.commands } });
      expect(read(was.node, text)).toEqual(was);
    }
  });

  it('has an incident only where its node had one', () => {
    const last = new Map(written.map((i) => [i.node, powerRecordOf(i)]));
    const has = (part: 'incident' | 'order'): string[] =>
      [...last].flatMap(([node, r]) => (r[part] === undefined ? [] : [node])).sort();
    expect(has('order')).toEqual(['n-cycle', 'n-order-done', 'n-order-pending']);
    expect([...last.keys()].filter((n) => !has('incident').includes(n)).sort()).toEqual([
      'n-order-done',
      'n-order-pending',
    ]);
    expect(last.get('n-order-done')?.order).toMatchObject({ phase: 'done', story: { steps: [expect.anything()] } });
    expect(last.get('n-order-pending')?.order).toMatchObject({ phase: 'ordered' });
    expect(last.get('n-cycle')?.order).not.toHaveProperty('story');
  });
});

const command = fc.record<PowerCommand>({
  n: fc.nat(400),
  epoch: fc.nat(9),
  fencer: fc.constant('f-1'),
  level: fc.nat(2),
  device: fc.constantFrom('bmc', 'pdu'),
  verb: fc.constantFrom('off', 'on', 'soft', 'status'),
  at: fc.nat(),
});
const ordered = { by: fc.string(), reason: fc.string(), at: fc.nat(), after: fc.nat(400) };
const order: fc.Arbitrary<PowerOrder> = fc.oneof(
  fc.record({ action: fc.constantFrom('on', 'soft'), ...ordered }),
  fc.record({
    action: fc.constantFrom('on', 'soft'),
    ...ordered,
    bootId: fc.string(),
    done: fc.constant(true),
    ok: fc.boolean(),
    detail: fc.string(),
  }),
);
const denial = fc.record({ basis: fc.string(), seen: fc.record({ guid: fc.string() }), at: fc.nat() });
const incident: fc.Arbitrary<IncidentRecord> = fc
  .record({
    phase: fc.constantFrom(...IncidentPhases),
    cause: fc.constantFrom<IncidentRecord['cause']>('auto', 'manual'),
    commands: fc.array(command, { maxLength: 6 }),
    epoch: fc.option(fc.nat(9), { nil: undefined }),
    devicesAfter: fc.option(fc.nat(400), { nil: undefined }),
    onBefore: fc.option(fc.record({ incident: fc.string(), n: fc.nat(400) }), { nil: undefined }),
    denied: fc.option(fc.dictionary(fc.constantFrom('bmc', 'pdu'), denial, { noNullPrototype: true }), {
      nil: undefined,
    }),
    order: fc.option(order, { nil: undefined }),
    attempt: fc.nat(9),
    powerOn: fc.option(fc.record({ wanted: fc.boolean(), requestedAt: fc.nat() }), { nil: undefined }),
  })
  .map(({ epoch, devicesAfter, onBefore, denied, order: by, powerOn, ...o }) =>
    anIncident('n-1', {
      ...o,
      steps: [{ phase: 'open', at: 1, detail: 'it begins' }],
      ...(epoch !== undefined && { epoch }),
      ...(devicesAfter !== undefined && { devicesAfter }),
      ...(onBefore !== undefined && { onBefore }),
      ...(denied !== undefined && { denied }),
      ...(by !== undefined && { order: by }),
      ...(powerOn !== undefined && { powerOn }),
    }),
  );

describe('a power record', () => {
  it('says of an incident, its commands and its order what went into it', () => {
    fc.assert(
      fc.property(incident, (i) => {
        expect(read('n-1', encode('incidents', i))).toEqual(i);
        expect(powerRecordOf(incidentIn(powerRecordOf(i)))).toEqual(powerRecordOf(i));
      }),
      { numRuns: runs(300) },
    );
  });

  it('of an order alone has no incident, and is shown as one that is over', () => {
    fc.assert(
      fc.property(order, fc.array(command, { maxLength: 3 }), (by, commands) => {
        const stored: PowerRecord = {
          ...powerRecordOf(anIncident('n-1', { commands, order: by })),
          updatedAt: 7,
        };
        const { incident: _none, ...alone } = stored;
        const story = { id: 'o-1', since: 5, steps: [{ at: 5, detail: 'eve ordered it' }] };
        const record = { ...alone, order: { ...(alone.order as NonNullable<PowerRecord['order']>), story } };
        const shown = incidentIn(record);
        expect(shown).toMatchObject({ id: 'o-1', phase: 'closed', by: by.by, reason: by.reason, order: by, commands });
        expect(powerRecordOf(shown)).toEqual(record);
      }),
      { numRuns: runs(300) },
    );
  });

  it('keeps the token of a conductor that has decided on it, whatever its story begins with', () => {
    const i = anIncident('n-1', {
      phase: 'closed',
      conductor: 7,
      order: { action: 'on', by: 'eve', reason: 'r', at: 1, after: 0 },
      steps: [{ phase: 'closed', at: 1, detail: 'it begins' }],
    });
    expect(read('n-1', encode('incidents', i))).toEqual(i);
  });

  it('is read by a program that opens what is sealed, which takes its schema off', () => {
    const i = anIncident('n-1');
    const unsealed = (_bucket: string, { schema: _schema, ...rest }: { schema?: number }): unknown => rest;
    expect(decode('incidents', 'n-1', encode('incidents', i), unsealed)).toEqual({ value: i });
  });

  it('has a log that speaks for no other part', () => {
    const r = powerRecordOf(anIncident('n-1', { phase: 'fencing' }));
    const text = JSON.stringify({ ...r, log: { ...r.log, phase: 'closed' } });
    expect(read('n-1', text)).toMatchObject({ phase: 'fencing' });
  });

  it.each<[string, (r: PowerRecord) => object]>([
    ['incident.phase is none of', (r) => ({ ...r, incident: { ...r.incident, phase: 'asleep' } })],
    ['order.phase is none of', (r) => ({ ...r, order: { ...r.order, phase: 'perhaps' } })],
    ['log.commands is missing', (r) => ({ ...r, log: { epoch: 1 } })],
    ['log is missing', (r) => ({ ...r, log: undefined })],
    ['neither an incident nor an order of its own', (r) => ({ ...r, incident: undefined, order: undefined })],
    ['neither an incident nor an order of its own', (r) => ({ ...r, incident: undefined })],
    ['unreadable is no member', (r) => ({ ...r, unreadable: 'so it is' })],
    ['incident.epoch is no member', (r) => ({ ...r, incident: { ...r.incident, epoch: 9 } })],
    ['incident.order is no member', (r) => ({ ...r, incident: { ...r.incident, order: r.order } })],
    ['order.done is no member', (r) => ({ ...r, order: { ...r.order, done: true } })],
    ['log.onBefore is a number', (r) => ({ ...r, log: { ...r.log, onBefore: 7 } })],
    ['log.denied is a list', (r) => ({ ...r, log: { ...r.log, denied: [] } })],
    ['incident.denied is no member', (r) => ({ ...r, incident: { ...r.incident, denied: {} } })],
    ['log.devicesAfter is a string', (r) => ({ ...r, log: { ...r.log, devicesAfter: '7' } })],
  ])('is not read where %s', (why, spoil) => {
    const by: PowerOrder = { action: 'on', by: 'eve', reason: 'r', at: 1, after: 0 };
    expect(read('n-1', JSON.stringify(spoil(powerRecordOf(anIncident('n-1', { order: by })))))).toContain(why);
  });
});
