import { expect } from 'vitest';
import type { CaseGroup } from './case-group.js';
import type { ContractBox } from './contract-box.js';

export function crashCases({ itAlone }: CaseGroup, c: ContractBox): void {
  itAlone('gives their sequences and ids again, and brings back what they replaced', async () => {
    await c.bucket();
    await c.put('k', 'old');
    await c.world.remember();
    await c.world.until(() => c.a.wire.connected);
    const lost = await c.seqOf('k', 'lost', { id: 'was-lost' });
    await c.put('other', 'lost too');
    await c.world.rollBack([c.box]);
    await c.world.until(() => c.a.wire.connected);
    expect(await c.run(c.log.last(c.box, `${c.box}.k`))).toMatchObject({ seq: 1, text: 'old' });
    expect(await c.run(c.log.info(c.box))).toMatchObject({ messages: 1, lastSeq: 1 });
    expect(await c.put('k', 'new', { expect: lost })).toEqual({ conflict: true });
    expect(await c.put('k', 'new', { id: 'was-lost', expect: 1 })).toEqual({ seq: 2, duplicate: false });
  });

  itAlone('may take of one stream what another still speaks of', async () => {
    await c.bucket();
    const torn = c.box;
    c.box = `${c.box}whole`;
    await c.bucket();
    await c.world.remember();
    await c.world.until(() => c.a.wire.connected);
    await c.run(c.log.append(`${torn}.k`, 'x', { id: `id${++c.ids}`, timeoutMs: 5000 }));
    await c.put('k', 'x');
    await c.world.rollBack([torn]);
    await c.world.until(() => c.a.wire.connected);
    expect(await c.run(c.log.last(torn, `${torn}.k`))).toBeUndefined();
    expect(await c.run(c.log.last(c.box, `${c.box}.k`))).toMatchObject({ seq: 1, text: 'x' });
  });
}
