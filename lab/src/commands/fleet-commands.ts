import { Option } from 'commander';
import { withoutParts } from '../agents/rejoin-parts.js';
import { controlChoice, type ControlOptions } from '../controls/external.js';
import { down } from '../down.js';
import { faultText } from '../faults/switch-fault.js';
import { labInfo, type ControlInfo, type LabInfo } from '../info.js';
import { bestMode } from '../mode.js';
import type { LabMode } from '../plan.js';
import { up, type UpOptions } from '../up.js';
import { folder, number, port, whole } from './arguments.js';
import type { Cli } from './cli.js';

/** The whole fleet: up, down, and what it is. */
export function fleetCommands(cli: Cli): void {
  cli.program
    .command('up')
    .description('start a lab; where it fails, nothing is left running')
    .option('--nodes <n>', 'hosts', number(1), 5)
    .option('--bare <n>', 'more hosts, without an agent and unknown, to be discovered', whole(0), 0)
    .addOption(new Option('--mode <mode>', 'default: netns for root, else loopback').choices(['netns', 'loopback']))
    .option('--commission', 'commission host1 as service-master, the rest as service-worker')
    .option('--restart <seconds>', 'services that die start again after so long; otherwise never', number(0))
    .addOption(new Option('--fencing <mode>').choices(['observe', 'enforce']).default('enforce'))
    .option('--domains <n>', 'failure domains that the hosts are spread over', whole(1), 1)
    .option(
      '--storm-cap <n>',
      "hosts that may die at once, and fencings that 10 minutes may see; default: the product's",
      whole(1),
    )
    .option('--port <port>', 'of the HTTP API on 127.0.0.1; 0 takes any free one', port, 9007)
    .option(
      '--peers <n>',
      'simulated peers beside the hosts: nodes with addresses and a voice, in one process',
      whole(0),
      0,
    )
    .option('--agent-without <part...>', 'parts of rejoin that are off in every agent: loop, timer, triggers, low-rate')
    .option('--services <folder>', "of the hosts; default: the lab's own, mirror and registry", folder)
    .option('--faketime', 'agents and services go by clocks of their own, which `clock` changes')
    .addOption(
      new Option('--control <n>', 'control hosts: one, three with a cluster of NATS, or a Muster that runs already')
        .choices(['1', '3', 'external'])
        .default('1'),
    )
    .option('--store-disks', 'with three: the store of each on a disk of its own, which power-cut needs')
    .option('--nats <url...>', 'of an external Muster, as the hosts reach it: management at least')
    .option('--http <url...>', 'of its gateways')
    .option('--creds <folder>', 'that its muster init has written', folder)
    .option('--token <file>', 'with the token that its gateways want')
    .option('--ssh-key <file>', "of its provisioner, with .pub beside it; default: the lab's own, in its ssh/")
    .option('--hosts-only', 'machines, network and BMCs, without services')
    .action(
      async (
        o: {
          nodes: number;
          mode?: LabMode;
          commission?: boolean;
          restart?: number;
          hostsOnly?: boolean;
          agentWithout?: string[];
          faketime?: boolean;
          services?: string;
          sshKey?: string;
          storeDisks?: boolean;
        } & ControlOptions &
          Pick<UpOptions, 'bare' | 'peers' | 'fencing' | 'port' | 'stormCap' | 'domains'>,
      ) => {
        const done = await up(cli.folder(), {
          ...o,
          mode: o.mode ?? bestMode(),
          commission: o.commission === true,
          control: controlChoice(o),
          storeDisks: o.storeDisks === true,
          hostsOnly: o.hostsOnly === true,
          faketime: o.faketime === true,
          rejoin: withoutParts(o.agentWithout ?? []),
          say: cli.say,
        });
        cli.answer({ ok: true, ...done }, `lab is up after ${done.seconds} s: ${done.apis.join(', ')}`);
      },
    );

  cli.program
    .command('down')
    .description('end the lab; its logs stay in its folder')
    .option('--purge', 'remove the folder too')
    .action(async (o: { purge?: boolean }) => {
      const done = await down(cli.folder(), { purge: o.purge === true });
      cli.answer({ ok: true, ...done }, `ended ${done.processes} processes, removed ${done.namespaces} namespaces`);
    });

  cli.program
    .command('status')
    .description('hosts, BMCs and services at a glance')
    .action(async () => {
      const info = await labInfo(cli.folder());
      cli.answer(info, statusText(info));
    });
  cli.program
    .command('info')
    .description('all addresses, pids, ports and files')
    .action(async () => {
      const info = await labInfo(cli.folder());
      cli.answer(info, JSON.stringify(info, null, 2));
    });
}

function controlText(c: ControlInfo): string {
  const state = c.dead ? 'dead' : c.stopped ? 'stopped' : c.cut.length > 0 ? `cut: ${c.cut.join(' ')}` : 'runs';
  const leads = [...(c.leases ?? []), ...(c.streams ?? []), ...(c.meta === true ? ['the NATS cluster'] : [])];
  return `${c.name.padEnd(8)} ${c.networks.management.padEnd(14)} ${state.padEnd(18)} leads ${leads.join(', ') || 'nothing'}`;
}

function statusText(info: LabInfo): string {
  const hosts = info.hosts.map(
    (h) =>
      `${h.name.padEnd(8)} ${h.node.padEnd(14)} ${h.networks.management.padEnd(14)} ${(h.running ? `runs, pid ${h.pid}` : 'dead').padEnd(18)} ` +
      `power ${h.bmc.power}${h.bare ? ', bare' : ''}${h.bmc.alive ? '' : ', BMC dead'}${h.cut.length > 0 ? `, cut: ${h.cut.join(' ')}` : ''}`,
  );
  const processes = info.processes
    .filter((p) => !p.name.startsWith('bmc-'))
    .map((p) => `${p.name.padEnd(16)} ${p.alive ? `pid ${p.pid}` : 'dead'}`);
  const peers =
    info.peers === undefined
      ? []
      : [
          '',
          `${info.peers.nodes.length} simulated peers, ${info.peers.dead.length} dead${info.peers.running ? '' : ', their process does not run'}`,
        ];
  const controls = info.controls.length < 2 ? [] : ['', ...info.controls.map(controlText)];
  const clocks = Object.entries(info.clocks).map(([name, offset]) => `clock of ${name}: ${offset}`);
  const faults = [...info.faults.map(faultText), ...clocks];
  return [
    `${info.state}  ${info.mode}  ${info.apis.join(' ')}  ${info.dir}`,
    '',
    ...hosts,
    ...peers,
    ...controls,
    '',
    ...processes,
    ...(faults.length > 0 ? ['', ...faults] : []),
  ].join('\n');
}
