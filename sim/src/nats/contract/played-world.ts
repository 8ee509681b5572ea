import { SeededRandom } from '../../time/seeded-random.js';
import { VirtualClock } from '../../time/virtual-clock.js';
import { VirtualTime } from '../../time/virtual-time.js';
import { clientOf } from '../played-client.js';
import { PlayedServer, type PlayedVersion } from '../played-server.js';
import type { ContractWorld } from './contract-world.js';

/** The played server, as one of the real ones. */
export function playedWorld(version: PlayedVersion): ContractWorld {
  const time = new VirtualTime();
  const server = new PlayedServer(time, { version });
  const random = new SeededRandom(1);
  const remembered = new Map<string, number>();
  const restart = async (lost: Record<string, number>): Promise<void> => {
    server.restart({ downMs: 300, lost });
    await time.advance(1000);
  };
  return {
    version,
    played: true,
    client: (name) => {
      const { wire, messages, connection } = clientOf(server, name, new VirtualClock(time, { name }), random);
      return Promise.resolve({
        wire,
        messages,
        loseAnswer: () => server.faults.once('unanswered', { client: name }),
        cut: () => connection.break({ forMs: Infinity }),
        heal: async () => {
          connection.heal();
          await time.until(() => wire.connected, 30_000);
        },
      });
    },
    run: (work) => time.settle(work),
    until: async (holds) => {
      if (!(await time.until(holds, 30_000))) throw new Error('it never came to be');
    },
    advance: (ms) => time.advance(ms),
    restart: () => restart({}),
    remember: async () => {
      for (const name of server.streamNames) remembered.set(name, server.stream(name).lastSeq);
      await Promise.resolve();
    },
    rollBack: (streams) =>
      restart(
        Object.fromEntries(
          streams.map((name) => [name, server.stream(name).lastSeq - (remembered.get(name) ?? 0)] as const),
        ),
      ),
    recreate: async (stream) => {
      server.recreateStream(stream);
      await Promise.resolve();
    },
    close: () => Promise.resolve(),
    watchStandstill: () => ({ longestMs: () => 0, end: () => undefined }),
  };
}
