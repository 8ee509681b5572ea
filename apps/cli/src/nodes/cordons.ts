import type { Command } from 'commander';
import type { CordonRequest, NodeView } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { parseDuration } from '../output/times.js';
import { awaitDrain } from './await-drain.js';
import { nodePath } from './fetch-nodes.js';

interface CordonOptions {
  reason: string;
  for?: string;
  wait?: boolean;
}

export function cordonCommands(node: Command): void {
  examples(
    does(
      withOptions(
        node
          .command('cordon <name>')
          .description('leave a node alone: no fencing, no placement, until it is uncordoned'),
      ),
      cordon,
    ),
    'node cordon host1-SN1 --reason "disk swap" --for 2h',
  );
  examples(
    does(
      withOptions(
        node.command('drain <name>').description('cordon a node, and have its workloads moved away, one by one'),
      ).option('--wait', 'tell which workloads are still there, until the last has left'),
      drain,
    ),
    'node drain host1-SN1 --reason "new kernel" --wait',
  );
  examples(
    does(node.command('uncordon <name>').description('end a cordon or a drain'), uncordon),
    'node uncordon host1-SN1',
  );
}

const withOptions = (command: Command): Command =>
  command
    .requiredOption('--reason <text>', 'why; kept with the node')
    .option('--for <duration>', 'ends by itself after 30s, 15m, 2h, 1d');

const request = (o: CordonOptions): CordonRequest => ({
  reason: o.reason,
  ...(o.for !== undefined && { until: Date.now() + parseDuration(o.for) }),
});

const put = (run: Run, name: string, body: CordonRequest): Promise<NodeView> =>
  run.server.exchange<NodeView>('PUT', `${nodePath(name)}/cordon`, body);

async function cordon(run: Run, name: string, o: CordonOptions): Promise<void> {
  await run.print.done(await put(run, name, request(o)), name, `${name} is left alone`);
}

async function drain(run: Run, name: string, o: CordonOptions): Promise<void> {
  const node = await put(run, name, { ...request(o), drain: true });
  if (o.wait === true) return awaitDrain(run, name);
  await run.print.done(node, name, `${name} is being drained (muster node get ${name})`);
}

async function uncordon(run: Run, name: string): Promise<void> {
  const node = await run.server.exchange<NodeView>('DELETE', `${nodePath(name)}/cordon`);
  await run.print.done(node, name, `${name} is no longer cordoned`);
}
