import { MusterError } from '#contracts';
import { editAgent } from '../agents/agent-file.js';
import { changedParts, type RejoinParts } from '../agents/rejoin-parts.js';
import { setClock } from '../clock/fake-clock.js';
import type { LabFolder } from '../folder.js';
import { hostState } from '../hosts.js';
import { MischiefKinds } from '../mischief/mischief-plan.js';
import { sendMischief } from '../mischief/mischief.js';
import { hostOf, knownHosts, type HostPlan } from '../plan.js';
import type { Cli } from './cli.js';

/** What is changed in agents and services that run. */
export function agentCommands(cli: Cli): void {
  rejoin(cli);
  clock(cli);
  datagram(cli);
}

function rejoin(cli: Cli): void {
  cli.program
    .command('agent <words...>')
    .usage('[options] HOST … rejoin PART=on|off …')
    .description(
      'HOST … rejoin loop=off,timer=on: parts of rejoin (loop, timer, triggers, low-rate); the agent restarts',
    )
    .option('--all', 'every host that has an agent and runs')
    .action(async (words: string[], o: { all?: boolean }) => {
      const at = words.indexOf('rejoin');
      const names = words.slice(0, at);
      const switches = words.slice(at + 1);
      if (at < 0 || switches.length === 0 || (names.length === 0) === (o.all !== true))
        throw new MusterError('BAD_REQUEST', 'agent takes hosts (or --all), then rejoin, then parts as in loop=off');
      const lab = cli.folder();
      lab.running();
      const plan = lab.plan();
      changedParts({}, switches); // a wrong word changes nobody
      const hosts = o.all === true ? await running(lab, knownHosts(plan)) : names.map((n) => hostOf(plan, n));
      const time = cli.now();
      const changed = await Promise.all(
        hosts.map(async (h) => {
          const { rejoin } = await editAgent<{ rejoin?: RejoinParts }>(lab, plan, h, (file) => ({
            ...file,
            rejoin: changedParts(file.rejoin ?? {}, switches),
          }));
          return { host: h.name, rejoin };
        }),
      );
      cli.answer(
        { ok: true, agents: changed, ...time },
        changed.map((c) => `${c.host}: rejoin ${JSON.stringify(c.rejoin)}`).join('\n'),
      );
    });
}

const running = async (lab: LabFolder, hosts: readonly HostPlan[]): Promise<HostPlan[]> => {
  const states = await Promise.all(hosts.map((h) => hostState(lab, h)));
  return hosts.filter((_, i) => states[i]?.running);
};

function clock(cli: Cli): void {
  cli.program
    .command('clock <name> <offset>')
    .description(
      'wall clock of the agent of a host, or of a service: +1h, -90s, 0; in a lab that is up with --faketime',
    )
    // A negative offset is no option.
    .allowUnknownOption()
    .action((name: string, offset: string) => {
      const lab = cli.folder();
      lab.running();
      const time = cli.now();
      const processes = setClock(lab, lab.plan(), name, offset);
      cli.answer({ ok: true, processes, offset, ...time }, `${processes.join(', ')}: clock ${offset}`);
    });
}

function datagram(cli: Cli): void {
  cli.program
    .command('datagram <host> <kind>')
    .description(`sends what nobody should send to its agent: ${MischiefKinds.join(', ')}`)
    .option('--count <n>', 'so many', '20')
    .action(async (name: string, kind: string, o: { count: string }) => {
      const { lab, plan, host } = cli.at(name);
      const count = Number(o.count);
      if (!/^\d{1,4}$/.test(o.count) || count < 1)
        throw new MusterError('BAD_REQUEST', `--count takes a whole number from 1 to 9999, not "${o.count}"`);
      const time = cli.now();
      const done = await sendMischief(lab, plan, host, kind, count);
      cli.answer(
        { ok: true, host: host.name, node: host.node, ...done, ...time },
        `${host.name}: ${done.sent} sent, ${done.answered} answered`,
      );
    });
}
