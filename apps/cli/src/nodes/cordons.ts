import type { Command } from 'commander';
import type { CordonRequest, NodeView } from '#contracts';
import { does, examples, type Run } from '../command.js';
import { parseDuration } from '../output/times.js';
import { nodePath } from './fetch-nodes.js';

interface CordonOptions {
  reason: string;
  for?: string;
}

export function cordonCommands(node: Command): void {
  for (const [verb, description, example] of [
    ['cordon', 'leave a node alone: no fencing, no placement, until it is uncordoned', '--reason "disk swap" --for 2h'],
    ['drain', 'cordon a node, and have its workloads moved away, one by one', '--reason "new kernel"'],
  ] as const)
    examples(
      does(
        node
          .command(`${verb} <name>`)
          .description(description)
          .requiredOption('--reason <text>', 'why; kept with the node')
          .option('--for <duration>', 'ends by itself after 30s, 15m, 2h, 1d'),
        (run: Run, name: string, o: CordonOptions) => cordon(run, verb, name, o),
      ),
      `node ${verb} host1-SN1 ${example}`,
    );
  examples(
    does(node.command('uncordon <name>').description('end a cordon or a drain'), uncordon),
    'node uncordon host1-SN1',
  );
}

async function cordon(run: Run, verb: 'cordon' | 'drain', name: string, o: CordonOptions): Promise<void> {
  const request: CordonRequest = {
    reason: o.reason,
    ...(o.for !== undefined && { until: Date.now() + parseDuration(o.for) }),
    ...(verb === 'drain' && { drain: true }),
  };
  const node = await run.server.exchange<NodeView>('PUT', `${nodePath(name)}/cordon`, request);
  await run.print.done(
    node,
    name,
    verb === 'drain' ? `${name} is being drained (muster node get ${name})` : `${name} is left alone`,
  );
}

async function uncordon(run: Run, name: string): Promise<void> {
  const node = await run.server.exchange<NodeView>('DELETE', `${nodePath(name)}/cordon`);
  await run.print.done(node, name, `${name} is no longer cordoned`);
}
