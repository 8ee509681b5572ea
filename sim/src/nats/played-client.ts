import type { Random } from '#contracts';
import type { MessageLog } from '#bus/ports/message-log.js';
import type { Wire } from '#bus/ports/wire.js';
import type { VirtualClock } from '../time/virtual-clock.js';
import { PlayedConnection } from './played-connection.js';
import { PlayedLog } from './played-log.js';
import type { PlayedServer } from './played-server.js';
import { PlayedWire } from './played-wire.js';

/** One process on the played server: what its bus stands on, and the connection to do things to. */
export interface PlayedClient {
  wire: Wire;
  messages: MessageLog;
  connection: PlayedConnection;
}

/** Connected already. A new life of a process, by the same name, takes the old one's place. */
export function clientOf(server: PlayedServer, name: string, clock: VirtualClock, random: Random): PlayedClient {
  const connection = new PlayedConnection(server, name, clock, random);
  return { wire: new PlayedWire(connection), messages: new PlayedLog(connection), connection };
}
