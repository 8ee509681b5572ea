import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultSettings, MusterError, type ClustermConfig } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';

let sut: GatewayUnderTest;
const role = (name: string) => ({ name, role: name, sha256: createHash('sha256').update(name).digest('hex') });
const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` });
const config = { ansible: { user: 'ops' } } as ClustermConfig;

beforeAll(async () => {
  sut = await GatewayUnderTest.start({ tokens: ['viewer', 'operator', 'admin'].map(role) });
  sut.answer('inventory.settings.get', () => ({ ...defaultSettings('spec'), revision: 7 }));
  sut.answer('inventory.settings.patch', ({ revision }) => {
    if (revision === 6) throw new MusterError('REVISION_CONFLICT', 'read them anew');
    return { ...defaultSettings('spec'), revision: 8 };
  });
  sut.answer('inventory.config.get', () => ({ config }));
  sut.answer('inventory.config.put', () => ({ config }));
});
afterAll(() => sut.stop());

describe('settings over HTTP', () => {
  it('are read by everybody, with their revision, and changed by an admin', async () => {
    const read = await sut.get('/v1/settings', as('viewer'));
    expect([read.status, read.headers.get('etag')]).toEqual([200, '"7"']);
    const patch = { leaveGrace: 5_000, witness: null, detection: { profile: 'fast' } };
    const send = (who: string, more = {}) => sut.send('PATCH', '/v1/settings', patch, { ...as(who), ...more });
    expect((await send('operator')).status).toBe(403);
    expect((await send('admin')).status).toBe(200);
    expect(sut.last('inventory.settings.patch')).toEqual({ by: 'admin', from: '127.0.0.1', patch });
    expect((await send('admin', { 'if-match': '"7"' })).headers.get('etag')).toBe('"8"');
    expect(sut.last('inventory.settings.patch')).toEqual({ by: 'admin', from: '127.0.0.1', patch, revision: 7 });
    const stale = await send('admin', { 'if-match': '"6"' });
    expect([stale.status, ((await stale.json()) as { code: string }).code]).toEqual([409, 'REVISION_CONFLICT']);
  });

  it('may be sent back as a whole: each of them has its place in a patch', async () => {
    const all = { ...defaultSettings('spec'), degraded: { policy: 'drain', after: 60_000 } };
    expect((await sut.send('PATCH', '/v1/settings', all, as('admin'))).status).toBe(200);
    expect(sut.last('inventory.settings.patch')?.patch).toEqual(all);
  });

  it('are refused at the door where they are no patch', async () => {
    for (const body of [{ unknown: 1 }, { globals: [] }, { webhooks: {} }, []]) {
      const answer = await sut.send('PATCH', '/v1/settings', body, as('admin'));
      expect([body, answer.status]).toEqual([body, 400]);
    }
  });

  it('are the configuration of the old surface for an admin, with an empty answer', async () => {
    expect(await (await sut.get('/config', as('viewer'))).json()).toEqual(config);
    const post = (who: string) => sut.send('POST', '/config', { Config: config }, as(who));
    expect((await post('operator')).status).toBe(403);
    const done = await post('admin');
    expect([done.status, await done.text()]).toEqual([200, '']);
    expect(sut.last('inventory.config.put')).toEqual({ by: 'admin', from: '127.0.0.1', config });
  });
});
