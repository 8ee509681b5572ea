import { connect } from '@nats-io/transport-node';
import { natsOptions } from './connect.js';
import type { BusOptions } from '../ports/types.js';
import type { Wire } from '../ports/wire.js';
import type { NatsServer } from '../servers/server-floor.js';

/** One that has not let us in by then is not there, ms: a start must not wait for a machine that is down. */
const ANSWER_MS = 2_000;

/** What every server says of itself, and which addresses gave no answer. */
export interface AskedServers {
  servers: NatsServer[];
  /** `nats://host:port`, with the reason. */
  silent: { address: string; reason: string }[];
}

/**
 * Asks each server that the configuration names, by a connection of its own: a client sees only the one that it is
 * connected to. A server that is down is no reason not to start; its version is asked at each lease that is taken there.
 */
export async function askServers(
  bus: Pick<Wire, 'serverInfo'>,
  o: Pick<BusOptions, 'name' | 'servers' | 'credentials'>,
): Promise<AskedServers> {
  const asked: AskedServers = { servers: [], silent: [] };
  const add = (server: NatsServer): void => {
    if (!asked.servers.some((s) => s.name === server.name)) asked.servers.push(server);
  };
  const own = bus.serverInfo;
  if (own !== undefined) add({ ...own, name: own.name ?? '' });
  // The one that it is, under one address or several.
  if (own?.cluster === undefined && o.servers.length <= 1) return asked;
  await Promise.all(
    o.servers.map(async (address) => {
      try {
        add(await ask(address, o));
      } catch (e) {
        asked.silent.push({ address, reason: e instanceof Error ? e.message : String(e) });
      }
    }),
  );
  return asked;
}

async function ask(address: string, o: Pick<BusOptions, 'name' | 'credentials'>): Promise<NatsServer> {
  const options = natsOptions({ ...o, servers: [address] });
  const nc = await connect({ ...options, reconnect: false, ignoreClusterUpdates: true, timeout: ANSWER_MS });
  try {
    const { info } = nc;
    if (info === undefined) throw new Error('it says nothing of itself');
    const { server_name: name, version, cluster } = info;
    return { name, version, ...(cluster !== undefined && { cluster }) };
  } finally {
    await nc.close();
  }
}
