import type { Fleet } from '../../lab/src/fleet/fleet.js';
import { inHost } from './watch.js';

const TABLE = ['table', 'inet', 'voiceless'];

/** For as long as `work` takes nothing of a host reaches NATS; all else of it does, also what its peers and the monitor ask. */
export async function withNatsClosed(fleet: Fleet, host: string, work: () => Promise<void>): Promise<void> {
  const { stdout } = await inHost(fleet, host, 'cat', '/etc/muster/agent.json');
  const { nats } = JSON.parse(stdout) as { nats: Record<string, string[]> };
  const ports = [...new Set(Object.values(nats).flatMap((urls) => urls.map((url) => new URL(url).port)))];
  await inHost(fleet, host, 'nft', 'add', ...TABLE);
  try {
    const hook = ['{', 'type', 'filter', 'hook', 'output', 'priority', '0', ';', '}'];
    await inHost(fleet, host, 'nft', 'add', 'chain', ...TABLE.slice(1), 'out', ...hook);
    for (const port of ports)
      await inHost(fleet, host, 'nft', 'add', 'rule', ...TABLE.slice(1), 'out', 'tcp', 'dport', port, 'drop');
    await work();
  } finally {
    await inHost(fleet, host, 'nft', 'delete', ...TABLE);
  }
}
