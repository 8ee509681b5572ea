import { describe, expect, it } from 'vitest';
import { POLL_TARGETS } from '#contracts/wire/poll.js';
import { parsePollRequest } from './parse-poll-request.js';

const target = (name = 'b'): object => ({ name, networks: { management: '10.0.0.2' } });
const good = { targets: [target()], port: 7946 };

describe('a request to probe', () => {
  it('is taken, without addresses that a resolver would have to find', () => {
    expect(parsePollRequest(JSON.stringify(good))).toEqual(good);
    const named = { name: 'b', networks: { management: 'b.example', backend: 'fd00::2' } };
    expect(parsePollRequest(JSON.stringify({ ...good, targets: [named] })).targets).toEqual([
      { name: 'b', networks: { backend: 'fd00::2' } },
    ]);
    const most = Array.from({ length: POLL_TARGETS }, (_, i) => target(`n${i}`));
    expect(parsePollRequest(JSON.stringify({ ...good, targets: most })).targets).toHaveLength(POLL_TARGETS);
  });

  it.each<[string, unknown]>([
    ['nothing', null],
    ['a list', [good]],
    ['without a port', { ...good, port: undefined }],
    ['with a port that is none', { ...good, port: 70_000 }],
    ['with a port as a text', { ...good, port: '7946' }],
    ['without targets', { port: 7946 }],
    ['for too many', { ...good, targets: Array.from({ length: POLL_TARGETS + 1 }, (_, i) => target(`n${i}`)) }],
    ['for the same node twice', { ...good, targets: [target(), target()] }],
    ['for a name that is none', { ...good, targets: [target('a b')] }],
    ['for a node without networks', { ...good, targets: [{ name: 'b' }] }],
    ['over a network without an address', { ...good, targets: [{ name: 'b', networks: { management: 7 } }] }],
    [
      'over five networks',
      { ...good, targets: [{ name: 'b', networks: Object.fromEntries([1, 2, 3, 4, 5].map((i) => [`n${i}`, '::1'])) }] },
    ],
  ])('is refused: %s', (_what, raw) => {
    expect(() => parsePollRequest(JSON.stringify(raw))).toThrow(/^(is|has|names) /);
  });
});
