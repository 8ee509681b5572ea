import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerResponse } from 'node:http';
import { MusterUnderTest } from '../testing/muster.js';

describe('muster fencing set enforce', () => {
  const sut = new MusterUnderTest();
  beforeAll(() => sut.start());
  afterAll(() => sut.stop());

  const refusals = (all: readonly (object | undefined)[]): void => {
    const left = [...all];
    sut.on('PUT /v1/fencing', (_: unknown, res: ServerResponse) => {
      const facts = left.length > 1 ? left.shift() : left[0];
      if (facts === undefined)
        return res
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ mode: 'enforce', hung: 'fence', afterRecovery: 'power-on' }));
      const problem = { code: 'FENCING_REFUSED', detail: 'not tested', ...facts };
      return res.writeHead(409, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
    });
  };
  const asked = (): number => sut.received.filter((r) => r.method === 'PUT').length;

  it('asks again while power devices are still being tested, and says so', async () => {
    refusals([{ nodes: [], untested: 12 }, { nodes: [], untested: 2 }, undefined]);
    const { code, stdout, stderr } = await sut.call(['fencing', 'set', 'enforce']);
    expect([code, stdout.split('\n')[0]]).toEqual([0, 'mode: enforce']);
    expect(stderr.split('\n')).toEqual([
      'muster: the power devices of 12 nodes are still being tested',
      'muster: the power devices of 2 nodes are still being tested',
      '',
    ]);
  });

  it('asks again as of the settings that it began with, so that it undoes nothing that was ordered since', async () => {
    refusals([
      { nodes: [], untested: 2, revision: 7 },
      { code: 'REVISION_CONFLICT', detail: 'at revision 8' },
    ]);
    expect(await sut.call(['fencing', 'set', 'enforce'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/muster: at revision 8\n$/),
    });
    expect(sut.received.slice(-2).map((r) => r.headers['if-match'])).toEqual([undefined, '"7"']);
  });

  it('ends at once where a device has failed', async () => {
    const before = asked();
    refusals([{ nodes: ['a-1'] }]);
    expect(await sut.call(['fencing', 'set', 'enforce'])).toMatchObject({ code: 1, stderr: 'muster: not tested\n' });
    expect(asked() - before).toBe(1);
  });

  it('does not ask for ever', async () => {
    const before = asked();
    refusals([{ nodes: [], untested: 1 }]);
    expect((await sut.call(['fencing', 'set', 'enforce'])).code).toBe(1);
    expect(asked() - before).toBe(20);
  });
});
