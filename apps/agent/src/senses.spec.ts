import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { checkConfig } from './config.js';
import { KnownPeers } from './peers/known-peers.js';
import { Senses } from './senses.js';
import { freeUdpPort } from './testing/fleet.js';
import { DropCounters } from './wire/drop-counters.js';

const ADDRESS = '127.0.0.1';

describe('what an agent senses', () => {
  let sut: Senses;
  let port: number;

  beforeEach(async () => {
    port = await freeUdpPort();
    const config = checkConfig({
      node: 'a',
      cluster: 'spec',
      networks: { backend: { bind: ADDRESS } },
      port,
      nats: { backend: ['nats://127.0.0.1:9'] },
      keys: '/dev/null',
      stateDir: '/nonexistent',
      socket: '/nonexistent/agent.sock',
    });
    sut = new Senses(
      {
        config,
        keys: { cluster: config.cluster, keys: [Buffer.alloc(32, 7)] },
        epoch: 1,
        known: new KnownPeers(['backend']),
        counters: new DropCounters(),
        onOtherList: () => undefined,
        isLeaving: () => false,
        log: { info() {}, warn() {}, error() {} },
      },
      0,
    );
    await sut.open();
  });
  afterEach(() => sut.close());

  it.each([
    ['accuses in a poll', 0],
    ['accuses nobody in a poll during which its loop stood still, although it is well again at the end', 400],
  ])('%s', async (_what, stoodStillFor) => {
    // Nobody answers: nothing of our own listens for `b`, and what we send to ourselves is not its echo.
    const said = sut.poll({ targets: [{ name: 'b', networks: { backend: ADDRESS } }], port }, 'one', 0);
    if (stoodStillFor > 0) sut.stoodStill(stoodStillFor, stoodStillFor);
    sut.step(60_000);
    expect(sut.links.abstains(60_000)).toBe(false);
    expect(await said).toMatchObject({ abstain: stoodStillFor > 0, targets: [{ name: 'b' }] });
  });
});
