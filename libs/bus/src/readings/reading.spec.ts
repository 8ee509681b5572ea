import { describe, expect, it } from 'vitest';
import { decideReading, readingConfig, readingRequest } from './reading.js';

const readable = ['KV_nodes', 'MUSTER'];
const asked = { stream: 'KV_nodes', filter: '$KV.nodes.>', start: { from: 'last-per-subject' }, reading: 'r1' };

describe('a reading that a service asks for', () => {
  it('is the one that it would make itself, but for where the messages go', () => {
    for (const start of [{ from: 'all' }, { from: 'seq', seq: 7 }, { from: 'time', time: new Date(1000) }] as const) {
      const { reading, stream, ...what } = decideReading(
        readable,
        overTheWire(readingRequest('MUSTER', { filter: 'a.>', start }, 'r2')),
      );
      expect([stream, reading]).toEqual(['MUSTER', 'r2']);
      expect(readingConfig(what, 'to')).toEqual(readingConfig({ filter: 'a.>', start }, 'to'));
    }
  });

  it('is of a stream that it may read', () => {
    for (const stream of ['KV_secrets', '', 'KV_nodes.x', undefined, 4])
      expect(() => decideReading(readable, { ...asked, stream })).toThrow(
        expect.objectContaining({ code: 'FORBIDDEN' }),
      );
  });

  it.each(['$KV.leases.fencer', 'a.b', '>', '*', '', 'a b', 'x'.repeat(65), undefined, 3])(
    'cannot send its messages elsewhere: %s',
    (reading) => {
      expect(() => decideReading(readable, { ...asked, reading })).toThrow(
        expect.objectContaining({ code: 'BAD_REQUEST' }),
      );
    },
  );

  it('says nothing but what a reading has', () => {
    const wide = {
      ...asked,
      config: { deliver_subject: '$KV.leases.fencer' },
      deliver_subject: 'x',
      durable_name: 'd',
    };
    expect(decideReading(readable, wide)).toEqual(decideReading(readable, asked));
  });

  it.each([
    { filter: '' },
    { filter: 'a b' },
    { filter: 3 },
    { start: { from: 'seq', seq: 0 } },
    { start: { from: 'seq', seq: 1.5 } },
    { start: { from: 'time', time: 'never' } },
    { start: { from: 'x' } },
    { start: undefined },
  ])('is refused whole where a part of it is none: %j', (part) => {
    expect(() => decideReading(readable, { ...asked, ...part })).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST' }),
    );
  });

  it.each([undefined, null, 'x', []])('is refused where it is none: %j', (request) => {
    expect(() => decideReading(readable, request)).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  });
});

const overTheWire = (request: object): unknown => JSON.parse(JSON.stringify(request));
