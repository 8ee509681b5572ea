import type { Command } from 'commander';
import type { AgentKeyRotateRequest, AgentKeyView, KeyLaggard } from '#contracts';
import { does, examples, type Run } from '../command/command.js';
import { moment } from '../output/times.js';

const PATH = '/v1/agents/key';

export function agentKeyCommands(agent: Command): void {
  const key = examples(
    agent.command('key').description('the key by which agents prove their datagrams, the same on all nodes'),
    'agent key rotate --reason "the disk of host1-SN1 was stolen"',
    'agent key status',
  );
  examples(
    does(
      key
        .command('rotate')
        .description('exchange it: a host that was revoked can then speak as nobody')
        .option('--reason <text>', 'why; kept in the audit')
        .option('--drop-absent', 'go on with an exchange that waits for nodes that nobody hears'),
      rotate,
    ),
    'agent key rotate --reason "the disk of host1-SN1 was stolen"',
    'agent key rotate --drop-absent',
  );
  examples(
    does(key.command('status').description('how far its exchange is, and what it waits for'), status),
    'agent key status',
  );
}

async function rotate(run: Run, o: { reason?: string; dropAbsent?: boolean }): Promise<void> {
  const request: AgentKeyRotateRequest = {
    ...(o.reason !== undefined && { reason: o.reason }),
    ...(o.dropAbsent === true && { dropAbsent: true }),
  };
  await show(run, await run.server.post<AgentKeyView>(`${PATH}/rotate`, request));
}

async function status(run: Run): Promise<void> {
  await show(run, await run.server.get<AgentKeyView>(PATH));
}

async function show(run: Run, view: AgentKeyView): Promise<void> {
  if (await run.print.machine(view, view.keys)) return;
  for (const line of keyLines(view, (ms) => moment(ms, run.terminal))) run.terminal.line(line);
}

const meaning: Record<AgentKeyView['phase'], string> = {
  file: 'never exchanged: it is that of the file',
  spread: 'step 1 of 3: everybody gets the new key, the old one signs',
  sign: 'step 2 of 3: the new key signs, the old one is still accepted',
  done: 'exchanged: the old key is worthless',
};

/** For people. @param time of a wall clock */
function keyLines(v: AgentKeyView, time: (ms: number) => string): string[] {
  const [first = '?', ...others] = v.keys;
  const begun = v.startedAt === undefined ? '' : `, begun ${time(v.startedAt)} by ${v.by ?? '?'}`;
  const under = v.phase === 'spread' || v.phase === 'sign';
  return [
    meaning[v.phase] + begun,
    `${first} signs${others.length > 0 ? `, ${others.join(', ')} is accepted too` : ''}`,
    ...(v.without ? [`not waited for: ${v.without.join(' ')}`] : []),
    ...(v.waitsFor.length === 0
      ? [under ? `nobody is waited for (nodes: ${v.nodes})` : `nobody is known to have another one (nodes: ${v.nodes})`]
      : [
          `${under ? 'waits for' : 'with other keys'} (${v.waitsFor.length}; nodes: ${v.nodes}):`,
          ...v.waitsFor.map((l) => `  ${laggard(l)}${under && !l.heard ? ' (--drop-absent)' : ''}`),
        ]),
  ];
}

const laggard = ({ name, keys, heard }: KeyLaggard): string =>
  `${name}: ${keys === undefined ? 'has not said what it has' : `has ${keys.join(' ')}`}${heard ? '' : ', and nobody hears it'}`;
