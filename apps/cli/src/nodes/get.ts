import type { Command } from 'commander';
import type { NodeView } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { askByPrefix } from './by-prefix.js';
import { fetchNodes, nodePath } from './fetch-nodes.js';
import { nodeView } from './node-view.js';
import { SELECTOR } from './selector-option.js';

export function getCommands(node: Command, nodes: Command): void {
  examples(
    does(
      node
        .command('get <name>')
        .description('one node, and why it is out of service; the beginning of its name is enough'),
      getNode,
    ),
    'node get host1-SN1',
    'node get host1-SN1 -o yaml',
  );
  examples(
    does(
      nodes
        .command('get [names...]')
        .description('nodes by name, by selector, or all; unknown names are left out')
        .option(...SELECTOR),
      getNodes,
    ),
    'nodes get',
    'nodes get host1-SN1 host2-SN2 --json',
    'nodes get --selector vars.rack=r1,inService=false -o name',
    'nodes get | grep "status: Allocated"',
  );
}

async function getNodes(run: Run, names: string[], o: { selector?: string }): Promise<void> {
  await run.print.list(await fetchNodes(run, names, o.selector), nodeView(run.terminal));
}

async function getNode(run: Run, name: string): Promise<void> {
  const node = await askByPrefix(run, name, (full) => run.server.get<NodeView>(nodePath(full)));
  await run.print.one(node, nodeView(run.terminal));
}
