import { describe, it } from 'vitest';
import { startTestNats } from '#bus/testing/nats.js';
import { ServiceNames } from '#contracts';
import { FACTOR } from '#contracts/testing/chance.js';
import { refuseInOneLine } from './testing/refused-servers.js';

// What is wrong with the servers is found in the same place for all: one service tells each of the others.
describe('services on a single server', () => {
  it('refuse three copies in one line before they make anything', async () => {
    const nats = await startTestNats();
    try {
      const services = FACTOR > 1 ? ServiceNames : (['provisioner', 'gateway'] as const);
      await refuseInOneLine(services, [nats.url], 3, /replicas: 3 needs a cluster of NATS, .* set replicas: 1/);
    } finally {
      await nats.stop();
    }
  });
});
