import type { Command } from 'commander';
import type { RevocationOutcome, RevokeRequest } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { nodePath } from './fetch-nodes.js';

export function revokeCommand(node: Command): void {
  examples(
    does(
      node
        .command('revoke <name>')
        .description("shut a node's agent out, of the fleet and of NATS, until the host is enrolled again")
        .requiredOption('--reason <text>', 'why; kept with the node')
        .option(
          '--force',
          'also while a job or a claim holds it, its incident is open, or workloads are assigned, or it is on no record',
        )
        .option('--yes', 'do not ask'),
      revoke,
    ),
    'node revoke host1-SN1 --reason "its disk was stolen"',
  );
}

async function revoke(run: Run, name: string, o: { reason: string; force?: boolean; yes?: boolean }): Promise<void> {
  if (
    o.yes !== true &&
    run.terminal.canAsk &&
    !(await run.terminal.confirm(`revoke ${name}: nobody will watch it, nor fence it by itself. Go on?`))
  )
    throw new Failure('nothing was done');
  const request: RevokeRequest = { reason: o.reason, ...(o.force === true && { force: true }) };
  const done = await run.server.post<RevocationOutcome>(`${nodePath(name)}/revoke`, request);
  // Also in a pipe: the name may be mistyped.
  if (done.unregistered === true)
    run.terminal.note(
      `muster: no node is called ${name}; users of its agent that NATS refuses now: ${done.users}; any other that was ` +
        'issued until now is refused within a minute after it connects, and until then is not believed while no node of ' +
        'this name is enrolled',
    );
  if (done.pending === undefined)
    return run.print.done(done, name, `${name} is shut out: NATS refuses its agent (users: ${done.users})`);
  if (await run.print.machine(done, [name])) return;
  throw new Failure(`${name} is no member any more, but NATS could not be told: ${done.pending}`);
}
