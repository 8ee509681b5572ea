import { readFileSync } from 'node:fs';
import { silentLog, type BusCredentials } from '#bus';
import { parseDatagramKeys, type Peer, type RunningWorkload } from '#contracts';
import { SimulatedPeers } from '../../../lab/src/peers/simulated-peers.js';

export interface ReportersPlan {
  peers: Peer[];
  /** Peer → what runs there; absent: nobody tells. */
  workloads?: Record<string, RunningWorkload[]>;
  cluster: string;
  keyFile: string;
  port: number;
  server: string;
  credentials: BusCredentials;
}

/** What the process of the reporters is told. */
export type Deed = { id: number } & ({ verb: 'start'; plan: ReportersPlan } | { verb: 'kill' | 'boot'; name: string });

/** Its answer, and what failed. */
export interface DeedAnswer {
  id: number;
  failed?: string;
}

let peers: SimulatedPeers | undefined;

async function act(deed: Deed): Promise<void> {
  if (deed.verb !== 'start') return peers?.[deed.verb]([deed.name]);
  const { keyFile, server, ...plan } = deed.plan;
  const keys = parseDatagramKeys(readFileSync(keyFile, 'utf8'));
  peers = await SimulatedPeers.start({ ...plan, keys, servers: [server], log: silentLog });
}

// A process of its own, so that the moment of a verdict is taken by one that has nothing else to do.
process.on('message', (deed: Deed) => {
  act(deed).then(
    () => process.send?.({ id: deed.id } satisfies DeedAnswer),
    (e: unknown) => process.send?.({ id: deed.id, failed: String(e) } satisfies DeedAnswer),
  );
});
