import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { MusterError, type StoredToken, tokenId, type TokenRecord } from '#contracts';
import { quickest } from '#contracts/testing/quickest.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { status } from '../testing/records.js';
import { TokenFile } from './token-file.js';
import { Tokens } from './tokens.js';

const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const fileToken = { name: 'ada', role: 'admin', sha256: sha256('of-the-file') };
const ada = bearer('of-the-file');

let sut: GatewayUnderTest;
const start = async (o: { tokens?: unknown; unix?: boolean } = {}): Promise<void> => {
  sut = await GatewayUnderTest.start(o);
  const bucket = sut.bus.bucket<StoredToken>('tokens');
  sut.answer('inventory.status', () => status());
  sut.answer('inventory.tokens.create', async ({ by, sha256, token }) => {
    const record: TokenRecord = { ...token, by, createdAt: 1 };
    await bucket.create(token.name, { ...record, sha256 });
    return record;
  });
  sut.answer('inventory.tokens.list', async () => ({
    items: (await bucket.list()).map(({ value: { sha256: hash, ...token } }) => ({ id: tokenId(hash), ...token })),
  }));
  sut.answer('inventory.tokens.delete', async ({ id }) => {
    const found = (await bucket.list()).find(({ value }) => tokenId(value.sha256) === id);
    if (found === undefined) throw new MusterError('TOKEN_UNKNOWN', id);
    await bucket.delete(found.key);
    return {};
  });
};
const make = async (body: object, headers = ada): Promise<TokenRecord & { id: string; token: string }> => {
  const answer = await sut.send('POST', '/v1/tokens', body, headers);
  expect(answer.status).toBe(201);
  return (await answer.json()) as TokenRecord & { id: string; token: string };
};
/** The gateway follows the bucket: what was written is known there a moment later. */
const until = async (token: string, code: number): Promise<void> => {
  while ((await sut.get('/v1/status', bearer(token))).status !== code);
};

describe('a token that is made over the API', () => {
  beforeAll(() => start({ tokens: [fileToken] }));
  afterAll(() => sut.stop());

  it('is shown once, opens what its role may, and inventory is told its hash only', async () => {
    const made = await make({ name: 'ci', role: 'viewer' });
    expect(made).toMatchObject({ name: 'ci', role: 'viewer', by: 'ada', id: tokenId(sha256(made.token)) });
    expect(made.token).toMatch(/^mst_[\w-]{43}$/);
    expect(JSON.stringify(sut.asked)).not.toContain(made.token);
    await until(made.token, 200);
    expect((await sut.get('/v1/tokens', bearer(made.token))).status).toBe(403);
    expect(await (await sut.get('/v1/tokens', ada)).text()).not.toContain(sha256(made.token));
  });

  it('is not in the answer that is repeated for an Idempotency-Key', async () => {
    const keyed = { ...ada, 'idempotency-key': 'k1' };
    const { token, ...rest } = await make({ name: 'keyed', role: 'viewer' }, keyed);
    expect(token).toBeDefined();
    const asked = sut.asked.length;
    expect(await make({ name: 'keyed', role: 'viewer' }, keyed)).toEqual(rest);
    expect(sut.asked).toHaveLength(asked);
  });

  it('that is deleted is refused within a second, and its open stream ends', async () => {
    const other = await sut.get('/v1/events', { ...ada, accept: 'text/event-stream' });
    const took = await quickest(1_000, async () => {
      const { id, token } = await make({ name: 'streaming', role: 'viewer' });
      await until(token, 200);
      const stream = await sut.get('/v1/events', { ...bearer(token), accept: 'text/event-stream' });
      expect(stream.status).toBe(200);
      const begun = performance.now();
      expect((await sut.send('DELETE', `/v1/tokens/${id}`, undefined, ada)).status).toBe(204);
      await until(token, 401);
      await expect(stream.text()).rejects.toThrow('terminated');
      return performance.now() - begun;
    });
    expect(took).toBeLessThan(1_000);
    const still = await Promise.race([other.text().then(() => 'ended'), sut.get('/healthz').then(() => 'open')]);
    expect(still).toBe('open');
    await other.body?.cancel().catch(() => undefined);
  });

  it('is refused when its time is over, and its open stream ends', async () => {
    const token = 'mst_short';
    const record = { name: 'short', role: 'viewer' as const, by: 'ada', createdAt: 1, sha256: sha256(token) };
    const expiresAt = Date.now() + 4_000;
    await sut.bus.bucket<StoredToken>('tokens').create('short', { ...record, expiresAt });
    await until(token, 200);
    const stream = await sut.get('/v1/events', { ...bearer(token), accept: 'text/event-stream' });
    await expect(stream.text()).rejects.toThrow('terminated');
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
    expect((await sut.get('/v1/status', bearer(token))).status).toBe(401);
  });

  it('has a name of its own, also beside the tokens of the file', async () => {
    const taken = await sut.send('POST', '/v1/tokens', { name: 'ada', role: 'viewer' }, ada);
    expect(taken.status).toBe(409);
    expect(await taken.json()).toMatchObject({ code: 'ALREADY_EXISTS' });
    expect((await sut.send('POST', '/v1/tokens', { name: 'x', role: 'root' }, ada)).status).toBe(400);
  });

  it('cannot be checked without NATS, and is refused until it can; tokens of the file go on', async () => {
    const { token } = await make({ name: 'patient', role: 'viewer' });
    await until(token, 200);
    await sut.nats.kill();
    const detail = async (headers: Record<string, string>): Promise<string> => {
      const answer = await fetch(`${sut.url}/v1/status`, { headers });
      expect(answer.status).toBe(503);
      return ((await answer.json()) as { detail: string }).detail;
    };
    while (!(await detail(bearer(token))).includes('cannot be checked'));
    expect(await detail(ada)).not.toContain('cannot be checked');
    const back = new Promise<void>((resolve) => sut.bus.onStatus((s) => s === 'connected' && resolve()));
    await sut.nats.restart();
    await back;
    await until(token, 200);
  });
});

describe('the last admin token', () => {
  beforeAll(() => start({ tokens: [], unix: false }));
  afterAll(() => sut.stop());

  it('is kept while nobody else could make another', async () => {
    const token = 'mst_boss';
    const record = { name: 'boss', role: 'admin' as const, by: 'local', createdAt: 1, sha256: sha256(token) };
    await sut.bus.bucket<StoredToken>('tokens').create('boss', record);
    await until(token, 200);
    const id = tokenId(sha256(token));
    const refused = await sut.send('DELETE', `/v1/tokens/${id}`, undefined, bearer(token));
    expect(await refused.json()).toMatchObject({ code: 'LAST_ADMIN', status: 409 });
    await make({ name: 'second', role: 'admin' }, bearer(token));
    expect((await sut.send('DELETE', `/v1/tokens/${id}`, undefined, bearer(token))).status).toBe(204);
  });

  it('may go where the file has another, a unix socket is open, or no token is asked for', () => {
    const admin = new TokenFile(JSON.stringify([fileToken]));
    const viewer = new TokenFile(JSON.stringify([{ ...fileToken, role: 'viewer' }]));
    expect(new Tokens(viewer).hasOtherAdmin).toBe(false);
    expect(new Tokens(admin).hasOtherAdmin).toBe(true);
    expect(new Tokens(viewer, undefined, true).hasOtherAdmin).toBe(true);
    expect(new Tokens(undefined).hasOtherAdmin).toBe(true);
  });
});

describe('without http.tokens', () => {
  beforeAll(() => start());
  afterAll(() => sut.stop());

  it('nobody is asked for a token, however many were made', async () => {
    const { id } = await make({ name: 'first', role: 'admin' }, {});
    expect((await sut.get('/v1/status')).status).toBe(200);
    expect((await sut.send('DELETE', `/v1/tokens/${id}`)).status).toBe(204);
    expect((await sut.get('/v1/status')).status).toBe(200);
  });
});
