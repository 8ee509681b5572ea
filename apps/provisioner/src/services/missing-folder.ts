import { MusterError, type NodeRecord } from '#contracts';

/**
 * A machine without a folder of services looks like one that has none to set up. A job that would clean up, or set up,
 * nodes with services of such a folder would leave them behind, and call the node set up.
 *
 * @param folder where it would be; undefined: nobody has said
 * @throws MusterError CONFIG_INVALID: one of the nodes has a service of a folder, by its last check or set-up
 */
export function refuseWithoutFolder(
  folder: string | undefined,
  nodes: readonly Pick<NodeRecord, 'name' | 'findings'>[],
  worker: string,
): void {
  for (const { name, findings } of nodes) {
    // Only what has a folder of its own is declared with a version.
    const own = Object.entries(findings?.services ?? {}).find(([, finding]) => finding.version !== undefined);
    if (own === undefined) continue;
    const there =
      folder === undefined ? 'ansible.services names no folder' : `there is no folder of services ${folder}`;
    throw new MusterError(
      'CONFIG_INVALID',
      `on ${worker} ${there}, and ${name} has ${own[0]} from one: nothing was run. Put it there, as on the other provisioners; an empty one says that there are no services any more`,
      { node: name, service: own[0] },
    );
  }
}
