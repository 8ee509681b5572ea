import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MusterUnderTest } from './muster.js';

export const bmc = { id: 'bmc', driver: 'ipmitool', address: '10.2.0.1', username: 'admin', secret: 'a-1.bmc' };

export const node = (name: string, more: object = {}): object => ({
  name,
  label: name.split('-')[0],
  serial: name.split('-')[1],
  hostGroup: 'service-worker',
  failureDomain: 'rack1',
  networks: { management: { address: '10.0.0.1' }, backend: { address: '10.1.0.1' } },
  powerLevels: [[bmc]],
  vars: { rack: 'r1' },
  fencing: 'auto',
  status: 'Allocated',
  prevStatus: 'Provisioning',
  state: 'Discovered',
  prevState: 'Unknown',
  inService: false,
  reasons: [{ code: 'CORDONED', detail: 'cordoned by ada: disk swap' }],
  revision: 7,
  ...more,
});

/** A Muster with node `a-1`, which is cordoned, and `b-2`, which is in service; it takes any operation as job `j1`. */
export class MusterWithNodes extends MusterUnderTest {
  private readonly dir = mkdtempSync(join(tmpdir(), 'muster-cli-nodes-'));

  /** A file of this text, gone with the server. */
  file(name: string, text: string): string {
    writeFileSync(join(this.dir, name), text);
    return join(this.dir, name);
  }

  override async stop(): Promise<void> {
    await super.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Before each test: as at first. */
  reset(): void {
    this.received.length = 0;
    this.on('GET /v1/workloads', { items: [] });
    this.on('GET /v1/nodes/a-1', node('a-1'));
    this.on('PATCH /v1/nodes/a-1', node('a-1', { revision: 8 }));
    this.on('GET /v1/nodes', { items: [node('a-1'), node('b-2', { inService: true, reasons: [] })] });
    this.on('POST /v1/operations', { job: 'j1' }, 202);
  }

  /** Bodies that were sent by this method. */
  sent(method: string): unknown[] {
    return this.received.filter((r) => r.method === method).map((r) => r.body);
  }
}

/** What a command says in a pipe that has done its work. */
export const quiet = { code: 0, stdout: '', stderr: '' };
