import { expect } from 'vitest';
import type { CaseGroup } from './case-group.js';
import { ns, type ContractBox } from './contract-box.js';

export function idCases({ it, itAlone }: CaseGroup, c: ContractBox): void {
  it('makes a second one the first, whatever its subject', async () => {
    await c.bucket();
    await c.put('k', 'one', { id: 'same', expect: 0 });
    await c.put('k', 'two', { expect: 1 });
    expect(await c.put('other', 'never', { id: 'same' })).toEqual({ seq: 1, duplicate: true });
    expect(await c.put('k', 'never', { id: 'same', expect: 2 })).toEqual({ seq: 1, duplicate: true });
    expect(await c.run(c.log.info(c.box))).toMatchObject({ messages: 1, lastSeq: 2 });
  });

  it('never stores a second one that expects what no longer holds, which 2.15 calls a conflict and 2.9 a duplicate', async () => {
    await c.bucket();
    await c.put('k', 'one', { id: 'same', expect: 0 });
    expect(c.again(1)).toContainEqual(await c.put('k', 'one', { id: 'same', expect: 0 }));
    await c.put('k', 'two', { expect: 1 });
    expect(c.again(1)).toContainEqual(await c.put('k', 'one', { id: 'same', expect: 0 }));
    expect(await c.run(c.log.info(c.box))).toMatchObject({ messages: 1, lastSeq: 2 });
  });

  it('of what was refused may come again', async () => {
    await c.bucket();
    expect(await c.put('k', 'x', { id: 'again', expect: 5 })).toEqual({ conflict: true });
    expect(await c.put('k', 'x', { id: 'again', expect: 0 })).toEqual({ seq: 1, duplicate: false });
  });

  it('is forgotten after the window: then only the expectation holds a copy back', async () => {
    await c.bucket({ duplicate_window: ns(100) });
    await c.put('k', 'one', { id: 'same', expect: 0 });
    await c.world.advance(1000);
    expect(await c.put('k', 'copy', { id: 'same', expect: 0 })).toEqual({ conflict: true });
    expect(await c.put('k', 'copy', { id: 'same' })).toEqual({ seq: 2, duplicate: false });
  });

  it('finds a write again whose answer was lost', async () => {
    await c.bucket();
    c.a.loseAnswer();
    await expect(c.put('k', 'one', { id: 'lost', expect: 0, timeoutMs: 300 })).rejects.toMatchObject({
      code: 'TIMEOUT',
    });
    await c.a.heal();
    expect(c.again(1)).toContainEqual(await c.put('k', 'one', { id: 'lost', expect: 0 }));
    expect((await c.run(c.log.last(c.box, `${c.box}.k`)))?.headers['Nats-Msg-Id']).toBe('lost');
  });

  itAlone('outlives a restart with its message', async () => {
    await c.bucket();
    await c.put('k', 'one', { id: 'stays' });
    await c.world.restart();
    await c.world.until(() => c.a.wire.connected);
    expect(await c.put('k', 'two', { id: 'stays' })).toEqual({ seq: 1, duplicate: true });
  });

  itAlone('does not outlive a restart where its message was replaced', async () => {
    await c.bucket();
    await c.put('k', 'one', { id: 'replaced' });
    await c.put('k', 'two');
    await c.world.restart();
    await c.world.until(() => c.a.wire.connected);
    expect(await c.put('k', 'three', { id: 'replaced' })).toEqual({ seq: 3, duplicate: false });
  });
}
