import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, systemClock } from '#bus';
import { issueServerCertificate } from '#bus/init/certificates.js';
import { readAuthority } from '#bus/init/tls-files.js';
import { RunningInventory } from '../testing/running-inventory.js';
import { until } from '../testing/until.js';

let sut: RunningInventory;
beforeAll(async () => {
  sut = await RunningInventory.start({ tls: true });
  await sut.work('provisioner', ['ansible']);
});
afterAll(() => sut?.stop());

const alarms = async (): Promise<string[]> =>
  (await sut.as('gateway').call('inventory.alarms.list', {})).items
    .filter((a) => a.cleared === undefined)
    .map((a) => `${a.code}=${a.subject}`);

describe('an inventory whose NATS speaks TLS', () => {
  it('gives each agent the CA, with which it gets in', async () => {
    const { credentials } = await sut.as('provisioner').call('inventory.agents.enrol', {
      by: 'ada',
      label: 'host1',
      serial: 'SN1',
      networks: { management: { address: '10.0.0.11' } },
      hostKeys: [],
    });
    expect(credentials.ca).toBe(readFileSync(join(sut.nats.dir, 'tls/ca.pem'), 'utf8'));
    await (await connectBus({ name: 'agent', servers: [sut.nats.url], credentials })).close();
    expect(await alarms()).not.toContain('nats-plain=nats');
  });

  it('warns before the certificate of NATS ends, also where that of the API cannot be read, until another one is there', async () => {
    expect(await alarms()).not.toContain('certificate-expires=nats');
    const unreadable = join(sut.nats.dir, 'tls/api.pem');
    mkdirSync(unreadable);
    const file = join(sut.nats.dir, 'tls/server.pem');
    const before = readFileSync(file, 'utf8');
    const old = Date.now() - 720 * 86_400_000;
    writeFileSync(file, (await issueServerCertificate(readAuthority(sut.nats.dir), ['127.0.0.1'], old)).certificate);
    await until(async () => (await alarms()).includes('certificate-expires=nats'), 'the alarm');
    writeFileSync(file, before);
    await until(async () => !(await alarms()).includes('certificate-expires=nats'), 'its end');
    rmdirSync(unreadable);
  });
});

/** Those from here on run side by side, each with a file, an alarm or an inventory of its own: they wait for the same looks. */
describe.concurrent('an inventory that looks at the certificate of the API', () => {
  it('warns before it ends, also while it is being written, until another one is there', async () => {
    const file = join(sut.nats.dir, 'tls/api.pem');
    const issue = async (at: number): Promise<string> =>
      (await issueServerCertificate(readAuthority(sut.nats.dir), ['127.0.0.1'], at)).certificate;
    writeFileSync(file, await issue(Date.now() - 720 * 86_400_000));
    await until(async () => (await alarms()).includes('certificate-expires=http'), 'the alarm');
    expect(await alarms()).not.toContain('certificate-expires=nats');
    const next = await issue(Date.now());
    writeFileSync(file, next.slice(0, 200));
    // Longer than two looks.
    await systemClock.sleep(11_000);
    expect(await alarms()).toContain('certificate-expires=http');
    writeFileSync(file, next);
    await until(async () => !(await alarms()).includes('certificate-expires=http'), 'its end');
  });
});

describe.concurrent('a pair that cannot be shown', () => {
  /** What the alarm says of NATS; empty: none stands. */
  const broken = async (): Promise<string> =>
    (await sut.as('gateway').call('inventory.alarms.list', {})).items.find(
      (a) => a.cleared === undefined && a.code === 'certificate-broken' && a.subject === 'nats',
    )?.message ?? '';

  it('of NATS is an alarm once it was seen twice, until a certificate is there again', async () => {
    const file = join(sut.nats.dir, 'tls/server.pem');
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, before.slice(0, 200));
    await until(async () => (await broken()).includes('it is no certificate (PEM)'), 'the alarm');
    rmSync(file);
    await until(async () => (await broken()).includes('the file is not there any more'), 'the alarm of what is gone');
    writeFileSync(file, before);
    await until(async () => (await broken()) === '', 'its end');
  });

  it('of the API is an alarm while the gateway says so', async () => {
    const judged = (why?: string) =>
      sut.as('gateway').call('inventory.records.certificate', { owner: 'http', ...(why !== undefined && { why }) });
    await judged('certificate and key do not belong together');
    expect(await alarms()).toContain('certificate-broken=http');
    // Longer than two looks of inventory, which does not see the key.
    await systemClock.sleep(11_000);
    expect(await alarms()).toContain('certificate-broken=http');
    await judged();
    expect(await alarms()).not.toContain('certificate-broken=http');
  });
});

describe.concurrent('an inventory whose agents speak to NATS without TLS over a network', () => {
  it('says so by an alarm', async () => {
    const plain = await RunningInventory.start({ agentsReach: 'nats://10.0.0.1:4222' });
    try {
      const codes = async () => (await plain.as('gateway').call('inventory.alarms.list', {})).items.map((a) => a.code);
      await until(async () => (await codes()).includes('nats-plain'), 'the alarm');
    } finally {
      await plain.stop();
    }
  });
});
