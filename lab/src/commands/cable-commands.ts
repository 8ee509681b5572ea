import { MusterError } from '#contracts';
import {
  directionOf,
  faultText,
  networksOf,
  pairOf,
  permilleOf,
  sidesOf,
  withFaults,
  withoutEnd,
  type SwitchFault,
} from '../faults/switch-fault.js';
import { changeSwitchFaults, endOf } from '../faults/switch.js';
import { healAll } from '../heal.js';
import { cutHost, joinHost } from '../hosts.js';
import { setInterfaces } from '../network.js';
import { hostOf, NETWORKS } from '../plan.js';
import { Processes } from '../processes.js';
import type { Cli } from './cli.js';

const NETWORK = ['--network <name...>', 'management, backend; default: both'] as const;

/** Cables and switches: what passes between machines, and what does not. */
export function cableCommands(cli: Cli): void {
  cut(cli);
  loss(cli);
  partition(cli);
  interfaces(cli);
  heal(cli);
}

/** New faults beside those that are in force, all at one instant. */
async function fault(cli: Cli, added: readonly SwitchFault[]): Promise<void> {
  const lab = cli.folder();
  lab.running();
  const time = cli.now();
  const faults = await changeSwitchFaults(lab, lab.plan(), (now) => withFaults(now, added));
  cli.answer({ ok: true, faults, ...time }, faults.map(faultText).join('\n') || 'the switches are whole');
}

function cut(cli: Cli): void {
  cli.program
    .command('cut [what...]')
    .description(
      'HOST: pull its cables; HOST:HOST …: the link between two, both may be ctl; --switch NAME: for everybody',
    )
    .option(...NETWORK)
    .option('--direction', 'of a link: only what goes from the first to the second')
    .option('--switch <name...>', 'management, backend, oob: it carries nothing, for hosts and control alike')
    .action(async (what: string[], o: { network?: string[]; direction?: boolean; switch?: string[] }) => {
      const links = what.filter((w) => w.includes(':'));
      if (o.switch !== undefined) {
        if (what.length > 0 || o.direction === true || o.network !== undefined)
          throw new MusterError('BAD_REQUEST', 'cut --switch takes names of networks and nothing else');
        return await fault(
          cli,
          networksOf(o.switch, NETWORKS).map((network) => ({ kind: 'down', network })),
        );
      }
      if (links.length === 0 && what.length === 1 && o.direction !== true) return await cutWhole(cli, what[0]!, o);
      if (links.length === 0 || links.length < what.length)
        throw new MusterError('BAD_REQUEST', 'cut takes one HOST, or links as in host1:host2 host1:ctl');
      const plan = cli.folder().plan();
      const pairs = links.map((l) => pairOf(l, endOf(plan)));
      const ways = o.direction === true ? pairs : pairs.flatMap(([a, b]) => [[a, b] as const, [b, a] as const]);
      const networks = networksOf(o.network);
      await fault(
        cli,
        networks.flatMap((network) => ways.map(([from, to]) => ({ kind: 'cut' as const, network, from, to }))),
      );
    });
}

async function cutWhole(cli: Cli, name: string, o: { network?: string[] }): Promise<void> {
  const { lab, plan, host } = cli.at(name);
  if (plan.mode === 'loopback')
    throw new MusterError('FORBIDDEN', 'cut needs root and netns mode: the loopback has no cables');
  const time = cli.now();
  const done = await cutHost(lab, host, o.network ?? []);
  cli.answer(
    { ok: true, host: host.name, node: host.node, cut: done, ...time },
    `${host.name} is cut from ${done.join(', ')}`,
  );
}

function loss(cli: Cli): void {
  cli.program
    .command('loss <percent>')
    .description('so many frames are lost in the switch, or on the cables of hosts; 0 ends it')
    .option('--host <host...>', 'on their cables; ctl is one, too; default: in the switch, each frame once')
    .option('--direction <which>', 'of a cable: only what its host has sent, or received; default: each way')
    .option(...NETWORK)
    .action(async (percent: string, o: { host?: string[]; direction?: string; network?: string[] }) => {
      const permille = permilleOf(percent);
      const direction = o.direction === undefined ? undefined : directionOf(o.direction, o.host);
      const plan = cli.folder().plan();
      const ends = o.host?.map(endOf(plan)) ?? [undefined];
      await fault(
        cli,
        networksOf(o.network).flatMap((network) =>
          ends.map((end) => ({
            kind: 'loss' as const,
            network,
            ...(end !== undefined && { end }),
            ...(direction !== undefined && { direction }),
            permille,
          })),
        ),
      );
    });
}

function partition(cli: Cli): void {
  cli.program
    .command('partition <sides>')
    .description('host1,host2/host3,ctl: nothing passes between the sides; who is on none hears everybody')
    .option(...NETWORK)
    .action(async (text: string, o: { network?: string[] }) => {
      const sides = sidesOf(text, endOf(cli.folder().plan()));
      await fault(
        cli,
        networksOf(o.network).map((network) => ({ kind: 'partition', network, sides })),
      );
    });
}

function interfaces(cli: Cli): void {
  cli.program
    .command('interfaces <state> [host...]')
    .description('up or down: the own interfaces of these hosts, or of all; with one that is down every send fails')
    .option(...NETWORK)
    .action(async (state: string, names: string[], o: { network?: string[] }) => {
      if (state !== 'up' && state !== 'down') throw new MusterError('BAD_REQUEST', 'interfaces takes up or down');
      const lab = cli.folder();
      lab.running();
      const plan = lab.plan();
      const hosts = names.length > 0 ? names.map((name) => hostOf(plan, name)) : plan.hosts;
      const time = cli.now();
      const networks = networksOf(o.network);
      await setInterfaces(hosts, networks, state);
      const told = hosts.map((h) => h.name);
      cli.answer(
        { ok: true, hosts: told, networks, state, ...time },
        `${networks.join(', ')} ${state} on ${told.join(', ')}`,
      );
    });
}

function heal(cli: Cli): void {
  cli.program
    .command('heal [host]')
    .description('cables, switches and interfaces are whole again; where a host (or ctl) is named, only its own')
    .option('--all', 'end every fault: cables, BMCs, paused and dead hosts, dead services and NATS')
    .action(async (name: string | undefined, o: { all?: boolean }) => {
      const lab = cli.folder();
      const record = lab.running();
      const plan = lab.plan();
      const hosts =
        name === undefined ? plan.hosts : plan.controls.some((c) => c.name === name) ? [] : [hostOf(plan, name)];
      const time = cli.now();
      const whole = plan.mode === 'loopback' ? [] : [healSwitch(cli, name)];
      await Promise.all([...whole, ...hosts.map((h) => joinHost(lab, h))]);
      if (plan.mode === 'netns') await setInterfaces(hosts, networksOf(undefined), 'up');
      const undone = o.all === true ? await healAll(lab, new Processes(lab), plan, record, hosts) : [];
      cli.answer({ ok: true, hosts: hosts.map((h) => h.name), undone, ...time }, ['healed', ...undone].join('\n'));
    });
}

async function healSwitch(cli: Cli, name: string | undefined): Promise<void> {
  const lab = cli.folder();
  const plan = lab.plan();
  await changeSwitchFaults(lab, plan, (now) => (name === undefined ? [] : withoutEnd(now, endOf(plan)(name))));
}
