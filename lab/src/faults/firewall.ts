import { run } from '../run.js';
import type { HostPlan } from '../plan.js';

/**
 * Opens the firewall of a host. The lab gives a host none: each rule in its namespace was set by a scenario or by hand,
 * and outlives a boot.
 * @returns whether there was one
 */
export async function openFirewall({ netns }: HostPlan): Promise<boolean> {
  if (netns === undefined) return false;
  const nft = (...words: string[]): ReturnType<typeof run> => run('ip', ['netns', 'exec', netns, 'nft', ...words]);
  if ((await nft('list', 'tables')).trim() === '') return false;
  await nft('flush', 'ruleset');
  return true;
}
