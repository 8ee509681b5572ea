import { expect } from 'vitest';
import type { CaseGroup } from './case-group.js';
import type { ContractBox } from './contract-box.js';

export function bucketCases({ it }: CaseGroup, c: ContractBox): void {
  it('takes a write only where its revision is the current one', async () => {
    await c.bucket();
    const first = await c.seqOf('k', 'one', { expect: 0 });
    expect(first).toBe(1);
    expect(await c.put('k', 'never', { expect: 0 })).toEqual({ conflict: true });
    expect(await c.put('k', 'never', { expect: 7 })).toEqual({ conflict: true });
    expect(await c.put('other', 'x', { expect: 0 })).toEqual({ seq: 2, duplicate: false });
    const second = await c.seqOf('k', 'two', { expect: first });
    expect(second).toBe(3);
    expect(await c.put('k', 'never', { expect: first })).toEqual({ conflict: true });
    expect(await c.run(c.log.last(c.box, `${c.box}.k`))).toMatchObject({ subject: `${c.box}.k`, seq: 3, text: 'two' });
    expect(await c.run(c.log.info(c.box))).toMatchObject({ messages: 2, firstSeq: 2, lastSeq: 3 });
  });

  it('lets only one of two have it who write at once', async () => {
    await c.bucket();
    const both = [c.a, c.b].map((by) =>
      by.messages.append(`${c.box}.k`, 'mine', { id: `id${++c.ids}`, expect: 0, timeoutMs: 5000 }),
    );
    const outcomes = await c.run(Promise.all(both));
    expect(outcomes.filter((o) => 'seq' in o)).toHaveLength(1);
    expect(outcomes.filter((o) => 'conflict' in o)).toHaveLength(1);
  });

  it('keeps the headers of a marker, which is a revision like any other', async () => {
    await c.bucket();
    const first = await c.seqOf('k', 'one', { expect: 0 });
    const marker = await c.seqOf('k', '', { id: 'the-id', expect: first, headers: [['KV-Operation', 'DEL']] });
    const last = await c.run(c.log.last(c.box, `${c.box}.k`));
    expect(last).toMatchObject({ seq: marker, text: '' });
    expect(last?.headers).toMatchObject({ 'KV-Operation': 'DEL', 'Nats-Msg-Id': 'the-id' });
    expect(await c.put('k', 'again', { expect: 0 })).toEqual({ conflict: true });
    expect(await c.put('k', 'again', { expect: marker })).toEqual({ seq: 3, duplicate: false });
  });

  it('holds text and bytes, and when they came', async () => {
    await c.bucket();
    await c.put('text', 'grün');
    await c.put('bytes', new TextEncoder().encode('blüht'));
    const last = await c.run(c.log.last(c.box, `${c.box}.bytes`));
    expect(last?.text).toBe('blüht');
    expect((await c.run(c.log.last(c.box, `${c.box}.text`)))?.text).toBe('grün');
    expect(last?.time.getFullYear()).toBeGreaterThan(2025);
  });

  it('begins again at 1 where it was made anew', async () => {
    await c.bucket();
    for (const text of ['1', '2', '3']) await c.put('k', text);
    const before = await c.run(c.log.info(c.box));
    const made = before.created.getTime();
    await c.world.advance(5);
    await c.world.recreate(c.box);
    const anew = await c.run(c.log.info(c.box));
    expect(anew).toMatchObject({ messages: 0, lastSeq: 0 });
    expect(anew.created.getTime()).toBeGreaterThan(made);
    expect(await c.run(c.log.last(c.box, `${c.box}.k`))).toBeUndefined();
    expect(await c.put('k', 'x', { expect: 3 })).toEqual({ conflict: true });
    expect(await c.put('k', 'x', { expect: 0 })).toEqual({ seq: 1, duplicate: false });
  });
}
