import { describe, expect, it } from 'vitest';
import { sameServers, serversToTry } from './servers-to-try.js';

describe('the servers that an agent tries', () => {
  const [configured, named] = [['nats://a:1'], ['nats://b:1', 'nats://c:1']];

  it('are those that were named, and by turns those of its own configuration', () => {
    expect([0, 1, 2, 3].map((failures) => serversToTry(configured, named, failures))).toEqual([
      named,
      configured,
      named,
      configured,
    ]);
  });

  it('are those of its own configuration where none were named', () => {
    expect([0, 1].map((failures) => serversToTry(configured, undefined, failures))).toEqual([configured, configured]);
  });

  it('are the same in another order', () => {
    expect(sameServers(['a', 'b'], ['b', 'a'])).toBe(true);
    expect(sameServers(['a'], ['a', 'b'])).toBe(false);
  });
});
