import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MusterUnderTest } from '../testing/muster.js';
import { node } from '../testing/nodes.js';

describe('the beginning of a name', () => {
  const sut = new MusterUnderTest();
  const names = ['host1-SN1', 'host10-SN10', 'rack2-b7'];
  beforeAll(async () => {
    await sut.start();
    sut.on('GET /v1/nodes', { items: names.map((name) => node(name)) });
    for (const name of names) sut.on(`GET /v1/nodes/${name}`, node(name));
    const evidence = { node: 'rack2-b7', source: 'now', verdict: null, networks: [], observers: [] };
    sut.on('GET /v1/nodes/rack2-b7/evidence', evidence);
    sut.on('GET /v1/nodes/rack2-b7/history', { items: [] });
  });
  afterAll(() => sut.stop());

  it('is enough for a question, where one node alone begins so', async () => {
    expect((await sut.call(['node', 'get', 'rack', '-o', 'name'])).stdout).toBe('rack2-b7\n');
    expect((await sut.call(['node', 'get', 'host10', '-o', 'name'])).stdout).toBe('host10-SN10\n');
    expect((await sut.call(['node', 'why', 'rack2'])).code).toBe(0);
    expect((await sut.call(['node', 'history', 'rack2'])).code).toBe(0);
  });

  it('is refused where several do, naming them', async () => {
    const { code, stderr } = await sut.call(['node', 'get', 'host1']);
    expect([code, stderr]).toEqual([1, 'muster: host1 may be host1-SN1, host10-SN10: write more of the name\n']);
  });

  it('that is none is answered in the words of the server', async () => {
    const { code, stderr } = await sut.call(['node', 'get', 'nope']);
    expect([code, stderr]).toEqual([1, 'muster: no route GET /v1/nodes/nope\n']);
  });

  it('changes nothing: an order takes the whole name', async () => {
    sut.received.length = 0;
    await sut.call(['node', 'fence', 'rack2', '--reason', 'x', '--yes']);
    expect(sut.received.map((r) => r.url).filter((url) => url.includes('rack2-b7'))).toEqual([]);
  });
});
