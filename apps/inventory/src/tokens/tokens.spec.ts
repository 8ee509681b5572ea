import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Subjects, type MusterEvent, type StoredToken } from '#contracts';
import { RunningInventory } from '../testing/running-inventory.js';

let sut: RunningInventory;
beforeAll(async () => {
  sut = await RunningInventory.start();
});
afterAll(async () => {
  await sut?.stop();
});

const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');
const create = (name: string, o: { token?: string; expiresAt?: number } = {}) =>
  sut.as('gateway').call('inventory.tokens.create', {
    by: 'ann',
    sha256: sha256(o.token ?? `token of ${name}`),
    token: { name, role: 'viewer', ...(o.expiresAt !== undefined && { expiresAt: o.expiresAt }) },
  });
const list = async () => (await sut.as('gateway').call('inventory.tokens.list', {})).items;
const remove = (id: string) => sut.as('gateway').call('inventory.tokens.delete', { by: 'ann', id });

describe('API tokens in a running inventory', () => {
  it('are made, listed without their hash, read by a gateway, and deleted', async () => {
    const made = await create('ci');
    expect(made).toEqual({ name: 'ci', role: 'viewer', by: 'ann', createdAt: expect.any(Number) });
    const id = sha256('token of ci').slice(0, 16);
    expect(await list()).toEqual([{ id, ...made }]);
    const stored = await sut.as('gateway').bucket<StoredToken>('tokens').get('ci');
    expect(stored?.value.sha256).toBe(sha256('token of ci'));
    await remove(id);
    expect(await list()).toEqual([]);
    await expect(remove(id)).rejects.toMatchObject({ code: 'TOKEN_UNKNOWN' });
  });

  it('have names of their own: of many requests for one at once, one is carried out', async () => {
    const tries = await Promise.allSettled([1, 2, 3, 4].map((n) => create('one', { token: `${n}` })));
    expect(tries.filter((t) => t.status === 'fulfilled')).toHaveLength(1);
    for (const t of tries) if (t.status === 'rejected') expect(t.reason).toMatchObject({ code: 'ALREADY_EXISTS' });
    expect((await list()).filter((t) => t.name === 'one')).toHaveLength(1);
  });

  it('give their name free when they have ended', async () => {
    const expiresAt = Date.now() + 2_000;
    await create('short', { expiresAt });
    await expect(create('short')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    while (Date.now() < expiresAt) await pause(expiresAt - Date.now());
    await create('short', { token: 'another' });
    expect((await list()).find((t) => t.name === 'short')).toMatchObject({ id: sha256('another').slice(0, 16) });
  });

  it('leave a trace, without hashes', async () => {
    const told: MusterEvent<'audit'>[] = [];
    const over = new Promise<void>((resolve) => {
      sut.as('inventory').follow([Subjects.event('audit', '*')], { fromSeq: 1 }, (_, e) => {
        told.push(e as MusterEvent<'audit'>);
        if (told.at(-1)?.data.subject === 'last') resolve();
      });
    });
    await create('last');
    await over;
    expect(told.map((e) => e.data)).toContainEqual({
      by: 'ann',
      action: 'token-create',
      subject: 'one',
      detail: 'viewer',
      outcome: 'accepted',
    });
    expect(JSON.stringify(told)).not.toContain(sha256('token of last'));
  });
});
