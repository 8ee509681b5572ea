import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { initCluster } from '../index.js';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-init-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const file = (name: string): string => readFileSync(join(dir, name), 'utf8');
const init = (natsListen: string, natsVersion?: string): void =>
  initCluster(dir, {
    cluster: 'spec',
    agents: [],
    natsListen: [natsListen],
    storeDir: join(dir, 'nats'),
    ...(natsVersion !== undefined && { natsVersion }),
  });
const nats = (): unknown => (parse(file('muster.yaml')) as { nats: unknown }).nats;

describe('initCluster', () => {
  it('keeps where NATS listens in muster.yaml, apart from where services reach it', () => {
    init('0.0.0.0:4300');
    expect(nats()).toEqual({ listen: '0.0.0.0:4300', servers: ['nats://127.0.0.1:4300'] });
  });

  it('lets muster.yaml follow when NATS shall listen elsewhere, and keeps what the operator wrote there', () => {
    init('127.0.0.1:4300');
    writeFileSync(join(dir, 'muster.yaml'), `${file('muster.yaml')}# mine\nreplicas: 1\n`);
    init('0.0.0.0:4301');
    expect(nats()).toEqual({ listen: '0.0.0.0:4301', servers: ['nats://127.0.0.1:4301'] });
    expect(file('muster.yaml')).toContain('# mine\nreplicas: 1\n');
    expect(file('nats.conf')).toContain('listen: "0.0.0.0:4301"');
  });

  it('does not touch a muster.yaml that says the same', () => {
    init('127.0.0.1:4300');
    const own = `nats: {listen: "127.0.0.1:4300", servers: ["nats://a:1", "nats://b:1"]}\n`;
    writeFileSync(join(dir, 'muster.yaml'), own);
    init('127.0.0.1:4300');
    expect(file('muster.yaml')).toBe(own);
  });
});
