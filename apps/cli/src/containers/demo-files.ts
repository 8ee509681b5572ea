import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { credentialsFile } from '#bus';
import { agentUser, nodeName } from '#contracts';

/** So many hosts the lab has that docker-compose.yml starts in its profile `demo`. */
export const DEMO_HOSTS = 4;

/** As the lab calls them. */
export const demoNodes: readonly string[] = Array.from({ length: DEMO_HOSTS }, (_, i) =>
  nodeName(`host${i + 1}`, `L${i + 1}`),
);

/** Holds the token of the demo's lab. It is there in an installation that was made for the demo, and in no other. */
export const demoTokenFile = (dir: string): string => join(dir, 'demo', 'token');

/**
 * What the container of the demo sees of an installation that was made for it: the users of its hosts' agents, the key of
 * their datagrams, whom its hosts let in by ssh, and a token. Of any other installation it sees nothing.
 */
export function demoFiles(dir: string): string[] {
  if (!existsSync(demoTokenFile(dir))) return [];
  const users = demoNodes.map((node) => credentialsFile('.', agentUser(node)));
  return ['muster.yaml', 'demo/token', 'keys/datagram.key', 'ssh/id_ed25519.pub', ...users];
}
