import { describe, expect, it } from 'vitest';
import { FACTOR, runs } from '#contracts/testing/chance.js';
import { connectBus, credentialsFile, readCredentials } from '../index.js';
import { startTestNats } from '../testing/nats.js';
import { installedAndNewer } from '../testing/newer-nats.js';

const ROUNDS = runs(4);
const services = ['inventory', 'detector', 'fencer', 'provisioner', 'gateway'] as const;

describe.each(installedAndNewer())('%s that has never run', (_name, program) => {
  it('lets every service write, also where all of them come at once', { timeout: 120_000 * FACTOR }, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const nats = await startTestNats({ users: true, ...(program !== undefined && { program }) });
      const connect = (user: string) =>
        connectBus({
          name: user,
          servers: [nats.url],
          credentials: readCredentials(credentialsFile(nats.dir, user)),
        });
      const buses = await Promise.all([...services, ...services].map(connect));
      await buses[0]?.createBuckets();
      const written = await Promise.allSettled(buses.map((bus) => bus.emit('audit', 'x', {} as never)));
      expect(written.map((w) => (w.status === 'rejected' ? String(w.reason) : 'stored'))).toEqual(
        buses.map(() => 'stored'),
      );
      await Promise.all(buses.map((bus) => bus.close()));
      await nats.stop();
    }
  });
});
