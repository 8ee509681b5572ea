import { expect } from 'vitest';
import { MusterError } from '#contracts';
import type { ReadStart } from '#bus/ports/message-log.js';
import type { CaseGroup } from './case-group.js';
import type { ContractBox } from './contract-box.js';

export function readingCases({ it, itAlone }: CaseGroup, c: ContractBox): void {
  it('of an empty bucket is live at once, and then tells each change', async () => {
    await c.bucket();
    const r = await c.reading({ from: 'last-per-subject' });
    await r.until('live');
    await c.put('k', '1');
    await c.put('k', '', { headers: [['KV-Operation', 'DEL']] });
    await r.until('k=');
    expect(r.told).toEqual(['live', 'k=1', 'k=']);
    r.session.close();
  });

  it('of a full one tells the last of each subject, in the order of their sequences, and then that it is live', async () => {
    await c.bucket({ max_msgs_per_subject: 3 });
    for (const [key, text] of [
      ['a', '1'],
      ['b', '1'],
      ['a', '2'],
      ['c.d', '1'],
      ['b', '2'],
    ] as const)
      await c.put(key, text);
    const r = await c.reading({ from: 'last-per-subject' });
    await r.until('live');
    await c.put('a', '3');
    await r.until('a=3');
    expect(r.told).toEqual(['a=2', 'c.d=1', 'b=2', 'live', 'a=3']);
    expect(r.seqs).toEqual([3, 4, 5, 6]);
    r.session.close();
  });

  it('begins where it was asked to', async () => {
    await c.queue();
    await c.put('x', '1');
    await c.world.advance(20);
    await c.put('y', '2');
    await c.put('x', '3');
    const time = (await c.run(c.log.next(c.box, `${c.box}.y`, 1)))?.time ?? new Date(0);
    const told = async (start: ReadStart, filter?: string): Promise<string[]> => {
      const r = await c.reading(start, filter === undefined ? {} : { filter });
      await r.until('live');
      r.session.close();
      return r.told;
    };
    expect(await told({ from: 'all' })).toEqual(['x=1', 'y=2', 'x=3', 'live']);
    expect(await told({ from: 'seq', seq: 2 })).toEqual(['y=2', 'x=3', 'live']);
    expect(await told({ from: 'seq', seq: 9 })).toEqual(['live']);
    expect(await told({ from: 'new' })).toEqual(['live']);
    expect(await told({ from: 'time', time })).toEqual(['y=2', 'x=3', 'live']);
    expect(await told({ from: 'all' }, `${c.box}.x`)).toEqual(['x=1', 'x=3', 'live']);
    expect(await told({ from: 'last-per-subject' }, `${c.box}.*`)).toEqual(['y=2', 'x=3', 'live']);
  });

  it('tells all in order, without holes, also what is written meanwhile by two', async () => {
    await c.queue();
    const r = await c.reading({ from: 'all' });
    const writes = Array.from({ length: 300 }, (_, n) =>
      (n % 2 === 0 ? c.a : c.b).messages.append(`${c.box}.n`, String(n), { id: `id${++c.ids}`, timeoutMs: 5000 }),
    );
    await c.run(Promise.all(writes));
    await c.world.until(() => r.seqs.length === 300);
    expect(r.seqs).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
    r.session.close();
  });

  it('waits for who is not done with a message', async () => {
    await c.queue();
    for (const text of ['1', '2']) await c.put('x', text);
    let go: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    const r = await c.reading({ from: 'all' }, { hold: (m) => (m.seq === 1 ? gate : undefined) });
    await r.until('x=1');
    await c.world.advance(50);
    expect(r.told).toEqual(['x=1']);
    go();
    await r.until('live');
    expect(r.told).toEqual(['x=1', 'x=2', 'live']);
    r.session.close();
  });

  it('tells nothing after it was closed', async () => {
    await c.queue();
    const r = await c.reading({ from: 'all' });
    await r.until('live');
    r.session.close();
    await c.put('x', '1');
    await c.world.advance(50);
    expect(r.told).toEqual(['live']);
  });

  it('of a stream that is not there is refused', async () => {
    await expect(c.reading({ from: 'all' })).rejects.toMatchObject({ name: 'ApiFailure', errCode: 10059 });
  });

  it('is in doubt when its stream was made anew', async () => {
    await c.bucket();
    const r = await c.reading({ from: 'last-per-subject' });
    await r.until('live');
    await c.world.recreate(c.box);
    await r.doubted();
    expect(r.told).toEqual(['live', 'doubt: no heartbeat']);
  });

  it('is in doubt when its stream was made anew with a message still on its way', async () => {
    await c.bucket();
    const r = await c.reading({ from: 'last-per-subject' });
    await r.until('live');
    const stored = c.b.messages
      .append(`${c.box}.k`, '1', { id: `id${++c.ids}`, timeoutMs: 5000 })
      .catch((e: unknown) => {
        // A real server may make the stream anew before it reads the message, and have none for it in between.
        if (c.world.played || MusterError.from(e).code !== 'NO_RESPONDER') throw e;
      });
    // The server has it, and nobody else yet.
    await c.world.advance(0.15);
    await c.world.recreate(c.box);
    await c.run(stored);
    await r.doubted();
    if (c.world.played) expect(r.told).toEqual(['live', 'k=1', 'doubt: no heartbeat']);
    expect(r.told.at(-1)).toBe('doubt: no heartbeat');
  });

  it('is in doubt when its stream was made anew after a short gap', async () => {
    await c.bucket();
    const r = await c.reading({ from: 'last-per-subject' });
    await r.until('live');
    c.a.cut();
    await c.world.until(() => !c.a.wire.connected);
    await c.a.heal();
    await c.world.advance(1500);
    await c.world.recreate(c.box);
    await r.doubted();
    expect(r.told).toEqual(['live', 'doubt: no heartbeat']);
  });

  itAlone('is in doubt when the server was restarted', async () => {
    await c.bucket();
    const r = await c.reading({ from: 'last-per-subject' });
    await r.until('live');
    await c.world.restart();
    await r.doubted();
    expect(r.told).toEqual(['live', 'doubt: no heartbeat']);
  });

  it('either misses nothing over a short gap, or is in doubt', async () => {
    await c.queue();
    const r = await c.reading({ from: 'all' });
    await r.until('live');
    c.a.cut();
    await c.world.until(() => !c.a.wire.connected);
    await c.put('x', '1', {}, c.b);
    await c.put('x', '2', {}, c.b);
    await c.a.heal();
    await c.put('x', '3', {}, c.b);
    await c.world.until(() => r.told.length > 3 || r.told.some((t) => t.startsWith('doubt')));
    const known = r.told.filter((t) => t.startsWith('x='));
    expect(['x=1', 'x=2', 'x=3'].slice(0, known.length)).toEqual(known);
    r.session.close();
  });

  it('is in doubt when the gap was long', async () => {
    await c.queue();
    const r = await c.reading({ from: 'all' });
    await r.until('live');
    c.a.cut();
    await r.doubted();
    expect(r.told).toEqual(['live', 'doubt: no heartbeat']);
    await c.a.heal();
  });
}
