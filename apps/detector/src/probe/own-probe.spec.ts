import { createServer } from 'node:net';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DetectionProfiles } from '#contracts';
import { answerLimit, roundPeriod } from './limits.js';
import { OwnProbes } from './own-probe.js';
import { sshSign } from './tcp-sign.js';

/** The kernel refuses to send there: EACCES for datagrams, ENETUNREACH for TCP. */
const NOT_TO_BE_SENT_TO = '255.255.255.255';
const FRESHNESS = 2500;

describe('the monitor’s own look', () => {
  let probes: OwnProbes;
  let troubles: string[];
  let learnt: (() => void)[];
  let closedPort: number;

  beforeEach(async () => {
    troubles = [];
    learnt = [];
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    closedPort = (server.address() as { port: number }).port;
    server.close();
    await once(server, 'close');
    const tell = (): void => learnt.splice(0).forEach((go) => go());
    probes = new OwnProbes('spec', { cluster: 'spec', keys: [randomBytes(32)] }, tell, (reason) => {
      troubles.push(reason);
      tell();
    });
  });
  afterEach(() => probes.close());

  const state = (): string => probes.state('n0', performance.now(), FRESHNESS);
  const look = (address: string): void =>
    probes.watch([
      {
        node: 'n0',
        networks: { management: address },
        port: closedPort,
        ssh: { host: '127.0.0.1', port: closedPort },
        limit: answerLimit(DetectionProfiles.lan),
        round: roundPeriod(DetectionProfiles.lan),
      },
    ]);
  async function until(what: () => boolean): Promise<void> {
    while (!what()) await new Promise<void>((resolve) => learnt.push(resolve));
  }

  it('is silent where nothing answers what was sent, for as long as that is fresh', async () => {
    look('127.0.0.1');
    expect(state()).toBe('unknown');
    await until(() => state() === 'silent');
    expect(probes.state('n0', performance.now() + FRESHNESS, FRESHNESS)).toBe('unknown');
  });

  it('knows nothing where we ourselves cannot send', async () => {
    look(NOT_TO_BE_SENT_TO);
    // Four rounds take longer than the limit of the first.
    await until(() => troubles.length >= 4);
    expect(state()).toBe('unknown');
  });

  it('counts an ssh that could not leave this host as not tried, and a closed port as an answer', async () => {
    expect(await sshSign(NOT_TO_BE_SENT_TO, 22)).toBe('not-tried');
    expect(await sshSign('127.0.0.1', closedPort)).toBe('refused');
  });
});
