import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execa } from 'execa';
import { findPromtool } from '#bus/testing/promtool.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';

const { program: promtool, missing } = findPromtool();

describe('/metrics', () => {
  let sut: GatewayUnderTest;

  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
    sut.answer('inventory.agents.metrics', ({ cursor }) =>
      cursor === undefined
        ? { items: [{ node: 'a-1', fresh: true, epoch: 1, members: 2, lost: 0 }], next: 'a-1' }
        : { items: [{ node: 'b-2', fresh: false }] },
    );
  });
  afterAll(() => sut.stop());

  it('has the agents of every page, also while the rest of the fleet cannot be read', async () => {
    const text = await (await sut.get('/metrics')).text();
    expect(text).toContain('muster_up 0\n');
    expect(text).toContain('muster_agent_members{node="a-1"} 2\n');
    expect(text).toContain('muster_agent_up{node="b-2"} 0\n');
    expect(sut.last('inventory.agents.metrics')).toEqual({ cursor: 'a-1' });
  });

  it('names its series as promtool asks for: a counter ends with _total, and nothing else does', async () => {
    const text = await (await sut.get('/metrics')).text();
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    expect(types.length).toBeGreaterThan(20);
    for (const [, name, type] of types) expect([name, name?.endsWith('_total')]).toEqual([name, type === 'counter']);
  });

  it.skipIf(missing !== '')(`is what promtool takes${missing && ` (there is none: ${missing})`}`, async () => {
    const input = await (await sut.get('/metrics')).text();
    const { exitCode, all } = await execa(promtool, ['check', 'metrics'], { input, reject: false, all: true });
    expect([exitCode, exitCode === 0 ? '' : all]).toEqual([0, '']);
  });
});
