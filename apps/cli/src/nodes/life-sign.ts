import { Argument, type Command } from 'commander';
import type { NodeView, WaiveLifeSignRequest } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { nodePath } from './fetch-nodes.js';

export function lifeSignCommand(node: Command): void {
  examples(
    does(
      node
        .command('life-sign <name>')
        .description(
          'whether a node may be powered off although nothing but its agent has ever shown that its host lives',
        )
        .addArgument(new Argument('<needed>', 'none: it may; required: it is held').choices(['none', 'required']))
        .option('--reason <text>', 'why; kept with the node. Needed with none'),
      waiveLifeSign,
    ),
    'node life-sign host1-SN1 none --reason "behind a firewall that lets nothing but NATS through"',
    'node life-sign host1-SN1 required',
  );
}

async function waiveLifeSign(run: Run, name: string, needed: string, o: { reason?: string }): Promise<void> {
  const path = `${nodePath(name)}/life-sign-waiver`;
  if (needed === 'required') {
    const node = await run.server.exchange<NodeView>('DELETE', path);
    return run.print.done(node, name, `${name} is held while nothing but its agent shows that its host lives`);
  }
  if (o.reason === undefined) throw new Failure('with none a --reason is needed: it is kept with the node');
  const request: WaiveLifeSignRequest = { reason: o.reason };
  const node = await run.server.exchange<NodeView>('PUT', path, request);
  await run.print.done(node, name, `${name} is powered off on the word of the agents alone`);
}
