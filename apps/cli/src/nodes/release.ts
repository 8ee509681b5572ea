import type { Command } from 'commander';
import type { AcceptDriftRequest, NodeView } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure, UsageFailure } from '../failure/failure.js';
import { comingMoment } from '../input/moment.js';
import { acceptedParts } from './accepted-text.js';
import { nodePath } from './fetch-nodes.js';

interface ReleaseOptions {
  accept?: boolean;
  withdraw?: boolean;
  reason?: string;
  until?: string;
}

export function releaseCommand(node: Command): void {
  examples(
    does(
      node
        .command('release <name>')
        .description(
          'accept the drift that the last check of a node found: exactly that is no alarm and no reason for a re-setup any more. To let an incident past its gate: muster incident release',
        )
        .option('--accept', 'accept what the last check of the node found')
        .option('--withdraw', 'take that back: it is told again')
        .option('--reason <text>', 'why; kept with the node. Needed with --accept')
        .option('--until <time>', 'ends by itself: 7d (from now), or a day and time'),
      release,
    ),
    'node release host1-SN1 --accept --reason "trial of the new limit" --until 7d',
    'node release host1-SN1 --withdraw',
  );
}

async function release(run: Run, name: string, o: ReleaseOptions): Promise<void> {
  const path = `${nodePath(name)}/accepted-drift`;
  if ((o.accept === true) === (o.withdraw === true)) throw new UsageFailure('either --accept or --withdraw is needed');
  if (o.withdraw === true) {
    const node = await run.server.exchange<NodeView>('DELETE', path);
    return run.print.done(node, name, `nothing that differs on ${name} is accepted any more`);
  }
  if (o.reason === undefined) throw new Failure('with --accept a --reason is needed: it is kept with the node');
  const until = o.until === undefined ? undefined : comingMoment('--until', o.until, Date.now());
  // What was found by now is what is accepted: a check that comes in between may have found more.
  const { lastCheck } = await run.server.get<NodeView>(nodePath(name));
  const request: AcceptDriftRequest = { reason: o.reason };
  if (until !== undefined) request.until = until;
  if (lastCheck !== undefined) request.check = lastCheck.job;
  const node = await run.server.exchange<NodeView>('PUT', path, request);
  const what = node.acceptedDrift === undefined ? '' : `: ${acceptedParts(node.acceptedDrift)}`;
  await run.print.done(node, name, `accepted on ${name}${what}`);
}
