import { describe, expect, it } from 'vitest';
import type { GateAnswer } from '#contracts/wire/peers.js';
import { LocalRequests } from './local-requests.js';

describe('a start gate that asks the agent of its host', () => {
  const asked: string[] = [];
  const sut = (answer: GateAnswer): LocalRequests =>
    new LocalRequests({
      node: 'n-1',
      bootId: 'boot-1',
      ask: (_subject, text) => {
        asked.push(text);
        return Promise.resolve(JSON.stringify(answer));
      },
      status: () => {
        throw new Error('nobody asks for it');
      },
      lookAtWorkloads: () => undefined,
    });

  it('has the control plane decide about the generation that the unit was made for, and the boot that asks', async () => {
    const allowed = sut({ allowed: true, generation: 9, reason: '' });
    expect(await allowed.answer({ op: 'gate', workload: 'db', generation: 9 })).toMatchObject({ allowed: true });
    expect(JSON.parse(asked.at(-1) ?? '')).toEqual({ workload: 'db', bootId: 'boot-1', generation: 9 });
    const other = sut({ allowed: true, generation: 10, reason: '' });
    expect(await other.answer({ op: 'gate', workload: 'db', generation: 9 })).toMatchObject({ allowed: false });
  });
});
