import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectBus } from '#bus';
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
    .map((a) => a.code);

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
    expect(await alarms()).not.toContain('nats-plain');
  });

  it('warns before the certificate of NATS ends, until another one is there', async () => {
    expect(await alarms()).not.toContain('certificate-expires');
    const file = join(sut.nats.dir, 'tls/server.pem');
    const before = readFileSync(file, 'utf8');
    const old = Date.now() - 720 * 86_400_000;
    writeFileSync(file, (await issueServerCertificate(readAuthority(sut.nats.dir), ['127.0.0.1'], old)).certificate);
    await until(async () => (await alarms()).includes('certificate-expires'), 'the alarm');
    writeFileSync(file, before);
    await until(async () => !(await alarms()).includes('certificate-expires'), 'its end');
  });
});

describe('an inventory whose agents speak to NATS without TLS over a network', () => {
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
