import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { MusterError } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { KeptAnswers, LEFT_BEHIND_MS } from './kept-answers.js';
import { readKey } from './request-key.js';

const check = { kind: 'check', nodes: ['a-1'] };
const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');

describe('a POST of /v1 with an Idempotency-Key', () => {
  let sut: GatewayUnderTest;
  let jobs = 0;
  let outcome: () => { job: string };
  let keys = 0;

  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  const newKey = (): Record<string, string> => ({ 'idempotency-key': `key-${++keys}`, ...bearer('o') });
  const post = (headers: Record<string, string>, body: unknown = check, path = '/v1/operations'): Promise<Response> =>
    sut.send('POST', path, body, headers);
  const asked = (): number => sut.asked.filter((a) => a.verb === 'inventory.operations.submit').length;

  beforeAll(async () => {
    sut = await GatewayUnderTest.start({
      tokens: ['o', 'p'].map((t) => ({ name: t, role: 'admin', sha256: sha256(t) })),
    });
    sut.answer('inventory.operations.submit', () => outcome());
    sut.answer('inventory.jobs.cancel', ({ id }) => ({ id, revision: 9 }) as never);
    sut.answer(
      'inventory.nodes.create',
      ({ node }) => ({ name: `${node.label}-${node.serial}`, revision: 4 }) as never,
    );
  });
  afterAll(() => sut.stop());
  afterEach(() => {
    outcome = () => ({ job: `job-${++jobs}` });
  });

  it('is carried out once: the same request gets the same answer again, and is told so', async () => {
    outcome = () => ({ job: `job-${++jobs}` });
    const key = newKey();
    const first = await post(key);
    const second = await post(key);
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([202, null]);
    expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    expect(await second.json()).toEqual(await first.json());
    expect(asked()).toBe(1);
    const node = { label: 'a', serial: '1', networks: { management: { address: '10.0.0.1' } } };
    const other = newKey();
    for (const replayed of [null, 'true']) {
      const answer = await post(other, node, '/v1/nodes');
      expect([answer.status, answer.headers.get('etag'), answer.headers.get('idempotent-replayed')]).toEqual([
        201,
        '"4"',
        replayed,
      ]);
    }
  });

  it('is refused where the key came with another body, path or query before', async () => {
    const key = newKey();
    await post(key);
    const before = sut.asked.length;
    for (const [body, path] of [
      [{ ...check, nodes: ['b-1'] }, '/v1/operations'],
      [check, '/v1/operations?fields=job'],
      [undefined, '/v1/jobs/j1/cancel'],
    ] as const) {
      const answer = await post(key, body, path);
      expect(answer.status).toBe(409);
      expect(await answer.json()).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    }
    expect(sut.asked.length).toBe(before);
  });

  it('has nothing to do with the same key of another caller', async () => {
    const key = newKey();
    const mine = await (await post(key)).json();
    const theirs = await (await post({ ...key, ...bearer('p') })).json();
    expect(theirs).not.toEqual(mine);
  });

  it('keeps a refusal as its answer too', async () => {
    const key = newKey();
    outcome = () => {
      throw new MusterError('NODE_RESERVED', 'job-7 holds a-1', { job: 'job-7' });
    };
    const first = await post(key);
    outcome = () => ({ job: 'too late' });
    const second = await post(key);
    expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([409, 409, 'true']);
    expect(await second.json()).toEqual(await first.json());
    const wrong = newKey();
    for (const replayed of [null, 'true']) {
      const answer = await post(wrong, { kind: 'odd' });
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([400, replayed]);
    }
  });

  it('may be tried again after a failure of ours', async () => {
    const key = newKey();
    outcome = () => {
      throw new MusterError('NO_WORKERS', 'nobody is there');
    };
    expect((await post(key)).status).toBe(503);
    outcome = () => ({ job: 'job-x' });
    const again = await post(key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, null]);
  });

  it('waits for its first answer while that is being found', async () => {
    const key = newKey();
    let release = (): void => {};
    const asking = new Promise<void>((resolve) => {
      sut.answer('inventory.incidents.release', async () => {
        resolve();
        await new Promise<void>((r) => (release = r));
        return { node: 'a-1', revision: 2 } as never;
      });
    });
    const first = post(key, { reason: 'seen' }, '/v1/incidents/a-1/release');
    await asking;
    const meanwhile = await post(key, { reason: 'seen' }, '/v1/incidents/a-1/release');
    expect([meanwhile.status, meanwhile.headers.get('retry-after')]).toEqual([409, '1']);
    expect(await meanwhile.json()).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
    release();
    expect((await first).status).toBe(202);
    expect((await post(key, { reason: 'seen' }, '/v1/incidents/a-1/release')).status).toBe(202);
  });

  it('tells inventory the name of its key, so that a gateway that dies between act and answer starts one job', async () => {
    const key = newKey();
    await post(key);
    const request = sut.last('inventory.operations.submit') as { key?: string };
    expect(request.key).toMatch(/^[0-9a-f]{64}$/);
    expect(request.key).not.toContain(key['idempotency-key']);
    const stored = await sut.bus.bucket('idempotency').get(request.key ?? '');
    expect(JSON.stringify(stored)).not.toContain(key['idempotency-key']);
    await post(bearer('o'));
    expect(sut.last('inventory.operations.submit')).not.toHaveProperty('key');
  });

  it('shows a secret once: it is not kept, and not in the answer that is repeated', async () => {
    sut.answer('inventory.tokens.create', ({ token }) => ({ ...token, by: 'o', createdAt: 1 }));
    const key = newKey();
    const order = { name: 'ci', role: 'viewer' };
    const first = (await (await post(key, order, '/v1/tokens')).json()) as { id: string; token: string };
    expect(first.token.length).toBeGreaterThan(30);
    const again = await post(key, order, '/v1/tokens');
    const { token: _shown, ...rest } = first;
    expect([again.status, again.headers.get('idempotent-replayed'), await again.json()]).toEqual([201, 'true', rest]);
    const kept = JSON.stringify(await sut.bus.bucket('idempotency').list());
    expect(kept).toContain(first.id);
    expect(kept).not.toContain(first.token);
  });

  it.each([['two words'], ['a,b'], ['ü'], ['x'.repeat(256)], ['']])('is refused with the key %j', (key) => {
    expect(() => readKey(key)).toThrow('Idempotency-Key');
  });

  it('is refused before anything is asked where its key is odd', async () => {
    const before = sut.asked.length;
    const answer = await post({ ...bearer('o'), 'idempotency-key': 'two words' });
    expect([answer.status, await answer.json()]).toEqual([400, expect.objectContaining({ code: 'BAD_REQUEST' })]);
    expect(sut.asked.length).toBe(before);
    expect(readKey('"8e03978e-40d5-43dd-bc93-6894a57f9324"')).toContain('8e03978e');
  });
});

describe('a request that a gateway left behind', () => {
  const request = { by: 'ann', key: 'k', method: 'POST', url: '/v1/operations', body: Buffer.from('{}') };
  let sut: GatewayUnderTest;

  beforeAll(async () => {
    sut = await GatewayUnderTest.start();
  });
  afterAll(() => sut.stop());

  it('is taken up at once by the next start of the same gateway', async () => {
    const died = new KeptAnswers(sut.bus, 'gateway-1');
    await died.begin({ ...request, key: 'same' });
    await expect(died.begin({ ...request, key: 'same' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
    const next = new KeptAnswers(sut.bus, 'gateway-1');
    expect(await next.begin({ ...request, key: 'same' })).toHaveProperty('turn');
  });

  it('is taken up by another gateway that has seen it unchanged for long enough on its own clock', async () => {
    let now = 0;
    const died = new KeptAnswers(sut.bus, 'gateway-1');
    const begun = await died.begin(request);
    const other = new KeptAnswers(sut.bus, 'gateway-2', () => now);
    for (const at of [5_000, 5_000 + LEFT_BEHIND_MS - 1]) {
      now = at;
      await expect(other.begin(request)).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
    }
    now = 5_000 + LEFT_BEHIND_MS;
    expect(await other.begin(request)).toHaveProperty('turn');
    // It was only slow: what it found is not put over the other's attempt.
    if ('turn' in begun) await expect(died.keep(begun.turn, {})).rejects.toMatchObject({ code: 'REVISION_CONFLICT' });
  });

  it('is taken up by one only', async () => {
    await new KeptAnswers(sut.bus, 'gateway-1').begin({ ...request, key: 'race' });
    const results = await Promise.allSettled(
      [1, 2, 3].map(() => new KeptAnswers(sut.bus, 'gateway-1').begin({ ...request, key: 'race' })),
    );
    expect(results.filter((r) => r.status === 'fulfilled')).toHaveLength(1);
  });
});
