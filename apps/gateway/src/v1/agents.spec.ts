import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { MusterError, type AgentAdmission, type AgentToken } from '#contracts';
import { FailedTryNumbers } from '../auth/failed-tries.js';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';

const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const admin = bearer('of-ada');
const operator = bearer('of-bob');

const kept: AgentToken = { id: '0123456789abcdef', by: 'ada', createdAt: 1, expiresAt: 2, uses: 1, usedBy: [] };
const host = { label: 'host1', serial: 'SN1', networks: { management: { address: '10.0.0.11' } } };
const admission: AgentAdmission = {
  node: 'host1-SN1',
  cluster: 'spec',
  agentPort: 7946,
  credentials: { user: 'agent=host1-SN1', seed: 'SUSECRET', jwt: 'x.SECRET.y' },
  datagramKeys: ['SECRET'],
  networks: host.networks,
  nats: { management: ['nats://10.0.0.1:4222'] },
};

let sut: GatewayUnderTest;
beforeAll(async () => {
  sut = await GatewayUnderTest.start({
    tokens: [
      { name: 'ada', role: 'admin', sha256: sha256('of-ada') },
      { name: 'bob', role: 'operator', sha256: sha256('of-bob') },
    ],
  });
  sut.answer('inventory.agentTokens.create', () => kept);
  sut.answer('inventory.agents.admit', (q) => {
    if (q.sha256 !== sha256('good')) throw new MusterError('UNAUTHORIZED', 'this token is not known');
    return admission;
  });
  sut.answer('inventory.nodes.revoke', ({ name }) => ({ node: name, users: 1 }));
});
afterAll(() => sut.stop());

describe('an agent token', () => {
  it("is an admin's to make, lasts an hour, and is shown once: inventory is told its hash only", async () => {
    expect((await sut.send('POST', '/v1/agents/tokens', {}, operator)).status).toBe(403);
    const answer = await sut.send('POST', '/v1/agents/tokens', {}, { ...admin, 'idempotency-key': 'k1' });
    const { token, ...rest } = (await answer.json()) as AgentToken & { token: string };
    expect([answer.status, rest]).toEqual([201, kept]);
    expect(token).toMatch(/^mse_[\w-]{43}$/);
    expect(sut.last('inventory.agentTokens.create')).toEqual({
      by: 'ada',
      from: '127.0.0.1',
      sha256: sha256(token),
      ttl: 3600,
    });
    const again = await sut.send('POST', '/v1/agents/tokens', {}, { ...admin, 'idempotency-key': 'k1' });
    expect(await again.json()).toEqual(kept);
  });
});

describe('a host that enrols itself', () => {
  it('shows an agent token, by its hash, and needs no role', async () => {
    const answer = await sut.send('POST', '/v1/agents/enrol', host, bearer('good'));
    expect([answer.status, await answer.json()]).toEqual([201, admission]);
    expect(sut.last('inventory.agents.admit')).toEqual({ sha256: sha256('good'), host, from: '127.0.0.1' });
  });

  it('is refused without one, and with any other', async () => {
    const before = sut.asked.length;
    expect((await sut.send('POST', '/v1/agents/enrol', host)).status).toBe(401);
    expect(sut.asked.length).toBe(before);
    expect((await sut.send('POST', '/v1/agents/enrol', host, admin)).status).toBe(401);
  });

  it('leaves nothing behind for an Idempotency-Key, and is told nothing by that of another', async () => {
    const kept = async (): Promise<string[]> => (await sut.bus.bucket('idempotency').list()).map((e) => e.key).sort();
    const before = await kept();
    const key = { 'idempotency-key': 'k2' };
    expect((await sut.send('POST', '/v1/agents/enrol', host, { ...bearer('good'), ...key })).status).toBe(201);
    for (const stranger of [{}, bearer('bad')])
      expect((await sut.send('POST', '/v1/agents/enrol', host, { ...stranger, ...key })).status).toBe(401);
    expect(await kept()).toEqual(before);
  });

  it('is refused for a while where others from its address have guessed, whatever it shows; success never counts', async () => {
    const enrol = (token: string) => sut.send('POST', '/v1/agents/enrol', host, bearer(token));
    for (let n = 0; n < 2 * FailedTryNumbers.burst; n++) expect((await enrol('good')).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 2 * FailedTryNumbers.burst }, () => enrol('guess')));
    expect(answers.map((a) => a.status)).toContain(401);
    const before = sut.asked.length;
    const refused = await enrol('good');
    expect([refused.status, sut.asked.length]).toEqual([429, before]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: 'TOO_MANY_TRIES' });
    // Anybody can say that he speaks for another.
    const elsewhere = { ...bearer('good'), 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' };
    expect((await sut.send('POST', '/v1/agents/enrol', host, elsewhere)).status).toBe(429);
    expect((await sut.send('GET', '/v1/agents/tokens', undefined, operator)).status).toBe(403);
  });
});

describe('the key of the datagrams', () => {
  const view = { phase: 'spread' as const, keys: ['1f3a9c2e', '77aa01bc'], nodes: 1, waitsFor: [] };

  it("is an admin's to exchange, and everybody's to ask after", async () => {
    sut.answer('inventory.agentKeys.get', () => view);
    sut.answer('inventory.agentKeys.rotate', () => view);
    const order = { reason: 'stolen', dropAbsent: true };
    expect((await sut.send('POST', '/v1/agents/key/rotate', order, operator)).status).toBe(403);
    expect((await sut.send('POST', '/v1/agents/key/rotate', { dropAbsent: 'yes' }, admin)).status).toBe(400);
    const answer = await sut.send('POST', '/v1/agents/key/rotate', order, admin);
    expect([answer.status, await answer.json()]).toEqual([200, view]);
    expect(sut.last('inventory.agentKeys.rotate')).toEqual({ by: 'ada', from: '127.0.0.1', ...order });
    expect(await (await sut.send('GET', '/v1/agents/key', undefined, operator)).json()).toEqual(view);
  });
});

describe('hosts behind a proxy that is trusted', () => {
  let behind: GatewayUnderTest;
  beforeAll(async () => {
    behind = await GatewayUnderTest.start({ tokens: [], trustProxy: ['127.0.0.0/8', '10.9.0.1'] });
    behind.answer('inventory.agents.admit', (q) => {
      if (q.sha256 !== sha256('good')) throw new MusterError('UNAUTHORIZED', 'this token is not known');
      return admission;
    });
  });
  afterAll(() => behind.stop());
  const enrol = async (token: string, from: string): Promise<number> => {
    const headers = { ...bearer(token), 'x-forwarded-for': from };
    return (await behind.send('POST', '/v1/agents/enrol', host, headers)).status;
  };

  it('are told apart by the address that it names, and by none that it was only told itself', async () => {
    const guesses = Array.from({ length: 2 * FailedTryNumbers.burst }, (_, n) =>
      enrol('guess', `198.51.100.${n}, 203.0.113.7, 10.9.0.1`),
    );
    await Promise.all(guesses);
    expect(await enrol('good', '203.0.113.7')).toBe(429);
    expect(await enrol('good', '203.0.113.8')).toBe(201);
    expect(await enrol('good', '198.51.100.1')).toBe(201);
  });
});

describe('a revocation', () => {
  it("is an admin's to order", async () => {
    const order = { reason: 'stolen', force: true };
    expect((await sut.send('POST', '/v1/nodes/host1-SN1/revoke', order, operator)).status).toBe(403);
    const answer = await sut.send('POST', '/v1/nodes/host1-SN1/revoke', order, admin);
    expect([answer.status, await answer.json()]).toEqual([200, { node: 'host1-SN1', users: 1 }]);
    expect(sut.last('inventory.nodes.revoke')).toEqual({ by: 'ada', from: '127.0.0.1', name: 'host1-SN1', ...order });
  });
});
