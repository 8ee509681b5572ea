import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHash } from 'node:crypto';
import { MusterError } from '#contracts';
import { GatewayUnderTest } from '../testing/gateway-under-test.js';
import { requestExamples } from '../openapi/examples.js';
import { status } from '../testing/records.js';
import { namedFault } from './store-health.js';

const fault = {
  kind: 'full' as const,
  summary: 'The disk under NATS is full: muster status says where.',
  message: 'The disk under NATS is full: 0 B free of 1 GiB at /srv/nats. Make room there.',
};

describe('a request that the store has failed', () => {
  it.each(['TIMEOUT', 'BUS_UNAVAILABLE', 'NO_RESPONDER', 'INTERNAL'] as const)(
    'keeps its code, since what it says of the write stays true: %s',
    (code) => {
      const error = namedFault(new MusterError(code, 'as it was', { node: 'a-1' }), fault, true);
      expect(error).toMatchObject({ code, message: `${fault.message} (as it was)`, facts: { node: 'a-1' } });
    },
  );

  it('is told without the place of the store to whoever has shown nothing', () => {
    const told = namedFault(new MusterError('BUS_UNAVAILABLE', 'as it was'), fault, false);
    expect(told.message).toBe(`${fault.summary} (as it was)`);
  });

  it('says it once, with the place for whoever may know it', () => {
    const refused = new MusterError('BUS_UNAVAILABLE', fault.summary);
    expect(namedFault(refused, fault, false).message).toBe(fault.summary);
    expect(namedFault(refused, fault, true).message).toBe(fault.message);
  });

  it('is not blamed for what it has not caused', () => {
    const error = new MusterError('NODE_UNKNOWN', 'no a-1');
    expect(namedFault(error, fault, true)).toBe(error);
    expect(namedFault(error, undefined, true)).toBe(error);
  });
});

describe('the place of a store whose disk is full', () => {
  // No block of it is free, as the kernel says: a full disk without one.
  const store = '/proc';
  const sha256 = createHash('sha256').update('a-token').digest('hex');
  const ada = { authorization: 'Bearer a-token' };
  let sut: GatewayUnderTest;
  beforeAll(async () => {
    sut = await GatewayUnderTest.start({ store, tokens: [{ name: 'ada', role: 'admin', sha256 }] });
    sut.answer('inventory.status', () => status());
    // The first look at it.
    while (!(await (await sut.get('/healthz')).text()).includes('is full'));
  });
  afterAll(() => sut.stop());

  it('is told to nobody without a token', async () => {
    const host = requestExamples['POST /v1/agents/enrol'];
    const answers = [
      await sut.get('/healthz'),
      await sut.get('/readyz'),
      await sut.get('/v1/status'),
      await sut.get('/v1/status', { authorization: 'Bearer guess' }),
      await sut.send('POST', '/v1/agents/enrol', host, { authorization: 'Bearer mse_x' }),
      await sut.send('POST', '/globals', { extra_vars: {} }, { authorization: 'Bearer guess' }),
    ];
    const texts = await Promise.all(answers.map((a) => a.text()));
    expect(texts.filter((text) => text.includes(store))).toEqual([]);
    expect(texts.slice(0, 2)).toEqual([
      expect.stringContaining('The disk under NATS is full: muster status says where.'),
      expect.stringContaining('The disk under NATS is full: muster status says where.'),
    ]);
    expect(answers.slice(0, 2).map((a) => a.status)).toEqual([200, 503]);
  });

  it('is told to whoever has one, in the status and with what is refused', async () => {
    expect(await (await sut.get('/v1/status', ada)).text()).toContain(`at ${store}.`);
    const refused = await sut.send('PUT', '/v1/fencing', { mode: 'enforce' }, ada);
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining(`at ${store}.`)]);
    const old = await sut.send('POST', '/globals', { extra_vars: {} }, ada);
    expect(await old.text()).toContain(`at ${store}.`);
  });

  it('is told beside a failure of our own, which says nothing else and stays one', async () => {
    sut.answer('inventory.jobs.get', () => {
      throw new MusterError('INTERNAL', 'Cannot read properties of undefined (reading secretPlan)');
    });
    const answer = await sut.get('/v1/jobs/j1', ada);
    const text = await answer.text();
    expect([answer.status, JSON.parse(text)]).toMatchObject([500, { code: 'INTERNAL' }]);
    expect(text).toContain(`at ${store}.`);
    expect(text).not.toContain('secretPlan');
  });
});

describe('a gateway that is not ready', () => {
  it('tells nobody what a program said', async () => {
    const sut = await GatewayUnderTest.start();
    try {
      sut.refuseAll(new MusterError('INTERNAL', 'Cannot read properties of undefined (reading secretPlan)'));
      const answer = await sut.get('/readyz');
      expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringContaining('secretPlan')]);
    } finally {
      await sut.stop();
    }
  });

  it.each([false, true])(
    'says so before whoever asks has given up, where nobody answers it (cluster: %s)',
    async (cluster) => {
      const sut = await GatewayUnderTest.start({ cluster });
      try {
        sut.answer('inventory.settings.get', () => new Promise(() => undefined) as never);
        const began = performance.now();
        const answer = await sut.get('/readyz');
        expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('TIMEOUT')]);
        // The time of the client (READY_LIMIT_MS in apps/cli), which the documents give to a load balancer too.
        expect(performance.now() - began).toBeLessThan(3_000);
      } finally {
        await sut.stop();
      }
    },
  );
});
