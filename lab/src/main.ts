#!/usr/bin/env node
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { MusterError } from '#contracts';
import { runAudit, type AuditAnswer } from './audit/run-audit.js';
import { selfTest } from './audit/self-test.js';
import { bmcAlive, killBmc, powerOf, rewire, setFault, setPower, startBmc, wiringsFor } from './bmc.js';
import { withoutParts } from './agents/rejoin-parts.js';
import { agentCommands } from './commands/agent-commands.js';
import { cableCommands } from './commands/cable-commands.js';
import type { Cli } from './commands/cli.js';
import { peerCommands } from './commands/peer-commands.js';
import { killNats, startNats, startService, useNats } from './cluster.js';
import { down } from './down.js';
import { execInHost } from './exec.js';
import { faultText } from './faults/switch-fault.js';
import { LabFolder } from './folder.js';
import { bootHost, crashHost, dozeHost, freezeHost, shutDownHost, thawHost } from './hosts.js';
import { labInfo, type LabInfo } from './info.js';
import { bestMode } from './mode.js';
import { hostOf, servicesNamed, type LabMode } from './plan.js';
import { Processes } from './processes.js';
import { up, type UpOptions } from './up.js';
import { addWorkload } from './workload.js';

/** `npm run lab -- COMMAND`: a fleet on your desk, and faults on command. Exit 0 done, 1 failed, 2 wrong usage or no root. */
const program = new Command('lab')
  .description('a fleet on this machine: hosts with real agents, real BMCs, real ssh, and faults on command')
  .option('--dir <folder>', 'everything that the lab writes is in it', '.lab')
  .option('--json', 'one line of JSON on stdout')
  .exitOverride()
  .showHelpAfterError('(lab --help shows every command)');

const folder = (): LabFolder => new LabFolder(program.opts<{ dir: string }>().dir);
const json = (): boolean => program.opts<{ json?: boolean }>().json === true;
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const answer = (value: unknown, text?: string): void => {
  if (json()) process.stdout.write(`${JSON.stringify(value)}\n`);
  else if (text !== undefined) process.stdout.write(`${text}\n`);
};

function at(name: string): ReturnType<Cli['at']> {
  const lab = folder();
  lab.running();
  const plan = lab.plan();
  return { lab, plan, host: hostOf(plan, name), processes: new Processes(lab) };
}

const number =
  (least: number) =>
  (text: string): number => {
    const n = Number(text);
    if (!Number.isFinite(n) || n < least) throw new InvalidArgumentError(`a number from ${least} on is expected.`);
    return n;
  };
const whole =
  (least: number) =>
  (text: string): number => {
    const n = number(least)(text);
    if (!Number.isInteger(n)) throw new InvalidArgumentError('a whole number is expected.');
    return n;
  };
const port = (text: string): number => {
  const n = whole(0)(text);
  if (n > 65_535) throw new InvalidArgumentError('a port is at most 65535.');
  return n;
};
const now = (): { ns: number; at: number } => ({ ns: Number(process.hrtime.bigint()), at: Date.now() });
const cli: Cli = { program, folder, answer, at, now };

program
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
  .option('--faketime', 'agents and services go by clocks of their own, which `clock` changes')
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
      } & Pick<UpOptions, 'bare' | 'peers' | 'fencing' | 'port' | 'stormCap' | 'domains'>,
    ) => {
      const done = await up(folder(), {
        ...o,
        mode: o.mode ?? bestMode(),
        commission: o.commission === true,
        hostsOnly: o.hostsOnly === true,
        faketime: o.faketime === true,
        rejoin: withoutParts(o.agentWithout ?? []),
        say,
      });
      answer({ ok: true, ...done }, `lab is up after ${done.seconds} s: ${done.api}`);
    },
  );

program
  .command('down')
  .description('end the lab; its logs stay in its folder')
  .option('--purge', 'remove the folder too')
  .action(async (o: { purge?: boolean }) => {
    const done = await down(folder(), { purge: o.purge === true });
    answer({ ok: true, ...done }, `ended ${done.processes} processes, removed ${done.namespaces} namespaces`);
  });

program
  .command('status')
  .description('hosts, BMCs and services at a glance')
  .action(async () => {
    const info = await labInfo(folder());
    answer(info, statusText(info));
  });
program
  .command('info')
  .description('all addresses, pids, ports and files')
  .action(async () => {
    const info = await labInfo(folder());
    answer(info, JSON.stringify(info, null, 2));
  });

program
  .command('kill <host>')
  .description('as by a crash of its kernel: silent at once, its BMC still reads on')
  .option('--with-bmc', 'its BMC dies with it')
  .action(async (name: string, o: { withBmc?: boolean }) => {
    const { lab, host, processes } = at(name);
    const time = await crashHost(lab, host);
    if (o.withBmc === true && bmcAlive(processes, host)) await killBmc(processes, host);
    answer({ ok: true, host: host.name, node: host.node, ...time }, `${host.name} is dead`);
  });
program
  .command('boot <host>')
  .description('somebody presses the power button')
  .action(async (name: string) => {
    const { lab, plan, host, processes } = at(name);
    const time = now();
    if (!bmcAlive(processes, host)) await startBmc(lab, processes, plan, host);
    setPower(lab, host, 'on');
    await bootHost(lab, host);
    answer({ ok: true, host: host.name, node: host.node, ...time }, `${host.name} runs`);
  });
program
  .command('reboot <host>')
  .description('in good order: every unit is stopped, the agent says that it leaves')
  .option('--for <seconds>', 'stays down so long', number(0), 0)
  .action(async (name: string, o: { for: number }) => {
    const { lab, host } = at(name);
    const time = now();
    await shutDownHost(lab, host, 'reboot');
    await new Promise((r) => setTimeout(r, o.for * 1000));
    await bootHost(lab, host);
    answer({ ok: true, host: host.name, node: host.node, ...time }, `${host.name} has rebooted`);
  });
const unitOf = (name: string | undefined): string | undefined => {
  const unit = name === 'agent' ? 'muster-agent' : name;
  return unit === undefined || unit.includes('.') ? unit : `${unit}.service`;
};
program
  .command('pause <host>')
  .description('every process of the host is stopped')
  .option('--only <unit>', 'one unit, e.g. agent')
  .option('--for <seconds>', 'and goes on after so long; the answer says how long it was', number(0.1))
  .action(async (name: string, o: { only?: string; for?: number }) => {
    const { lab, host } = at(name);
    const unit = unitOf(o.only);
    const known = { ok: true, host: host.name, node: host.node, ...now() };
    if (o.for === undefined) {
      await freezeHost(lab, host, unit);
      answer(known, `${host.name} stands still`);
    } else {
      const { stoodMs } = await dozeHost(lab, host, o.for, unit);
      answer({ ...known, stoodMs }, `${host.name} stood still for ${stoodMs} ms`);
    }
  });
program
  .command('resume <host>')
  .description('and goes on')
  .option('--only <unit>', 'one unit, e.g. agent')
  .action(async (name: string, o: { only?: string }) => {
    const { lab, host } = at(name);
    await thawHost(lab, host, unitOf(o.only));
    answer({ ok: true, host: host.name, node: host.node, ...now() }, `${host.name} goes on`);
  });
cableCommands(cli);
agentCommands(cli);
peerCommands(cli);
program
  .command('bmc <host> <fault> [other]')
  .description(
    'stuck_on, hold=get|set, fail=get|set, delay=SECONDS, dead; release, ok, alive; wired-to HOST, swap HOST, clone HOST, no-identity, own',
  )
  .action(async (name: string, word: string, other: string | undefined) => {
    const { lab, plan, host, processes } = at(name);
    const time = now();
    const wirings = wiringsFor(lab, host, word, other === undefined ? undefined : hostOf(plan, other));
    if (wirings !== undefined) for (const [h, wiring] of wirings) await rewire(lab, processes, plan, h, wiring);
    else if (word === 'dead') await killBmc(processes, host);
    else if (word === 'alive') await startBmc(lab, processes, plan, host);
    else setFault(lab, host, word);
    answer({ ok: true, host: host.name, fault: word, power: powerOf(lab, host), ...time }, `${host.name}: BMC ${word}`);
  });

program
  .command('service <name> <verb>')
  .description(
    'detector, inventory, provisioner, fencer, gateway, or one of them (fencer.2): kill, pause, resume, start',
  )
  .action(async (name: string, verb: string) => {
    const lab = folder();
    const record = lab.running();
    const processes = new Processes(lab);
    const names = servicesNamed(name);
    const time = now();
    const acts: Record<string, (p: string) => unknown> = {
      kill: (p) => processes.kill(p),
      pause: (p) => processes.signal(p, 'SIGSTOP'),
      resume: (p) => processes.signal(p, 'SIGCONT'),
      start: (p) => startService(lab, processes, lab.plan(), record, p),
    };
    const act = acts[verb];
    if (act === undefined)
      throw new MusterError('BAD_REQUEST', `service takes kill, pause, resume or start, not "${verb}"`);
    // One that is already as wanted does not stop the others of its kind.
    const wanted = names.filter((p) => (processes.alive(p) === undefined) === (verb === 'start'));
    if (wanted.length === 0)
      throw new MusterError('NOT_FOUND', `${names.join(', ')}: ${verb === 'start' ? 'runs already' : 'does not run'}`);
    for (const p of wanted) await act(p);
    answer({ ok: true, services: wanted, verb, ...time }, `${wanted.join(', ')}: ${verb}`);
  });
program
  .command('nats <verb> [subject] [text]')
  .description('kill, start; publish SUBJECT TEXT and request SUBJECT TEXT as a tool of the operator would')
  .option('--as <user>', 'of the users in etc/creds, e.g. agent=host1-L1', 'tools')
  .action(async (verb: string, subject: string | undefined, text: string | undefined, o: { as: string }) => {
    const lab = folder();
    lab.running();
    const processes = new Processes(lab);
    const time = now();
    if (verb === 'publish' || verb === 'request') {
      if (subject === undefined) throw new MusterError('BAD_REQUEST', `nats ${verb} needs a subject`);
      const said = await useNats(lab, lab.plan(), o.as, verb, subject, text ?? '');
      answer({ ok: true, answer: said, ...time }, said);
      return;
    }
    if (verb === 'kill') await killNats(processes);
    else if (verb === 'start') await startNats(lab, processes, lab.plan());
    else throw new MusterError('BAD_REQUEST', `nats takes kill, start, publish or request, not "${verb}"`);
    answer({ ok: true, verb, ...time }, `nats: ${verb}`);
  });

program
  .command('workload <verb> <name>')
  .description('add NAME --on HOST: a heartbeat that writes to the ledger every 50 ms, managed by Muster')
  .requiredOption('--on <host>', 'where it starts')
  .action(async (verb: string, name: string, o: { on: string }) => {
    if (verb !== 'add') throw new MusterError('BAD_REQUEST', `workload takes add, not "${verb}"`);
    const { lab } = at(o.on);
    const workload = await addWorkload(lab, name, o.on);
    answer({ ok: true, workload }, `${name} runs on ${o.on}`);
  });
program
  .command('exec <host> <command...>')
  .description('run a command in a host: exec host1 -- systemctl status')
  .action(async (name: string, argv: string[]) => {
    const { lab, plan, host } = at(name);
    const done = await execInHost(lab, plan.mode, host, argv, json());
    answer(done);
    process.exitCode = done.exitCode;
  });
program
  .command('audit')
  .description('checks, from the ledger, the BMC logs and the API, that nothing forbidden happened')
  .option('--self-test', 'plant one violation of each kind; each must be reported')
  .action(async (o: { selfTest?: boolean }) => {
    if (o.selfTest === true) {
      const test = selfTest();
      const line = (p: { kind: string; reported: boolean }): string =>
        `${p.reported ? 'reported' : 'MISSED  '}  ${p.kind}`;
      answer(test, [...test.planted.map(line), `a story without fault: ${test.clean.length} violations`].join('\n'));
      process.exitCode = test.ok ? 0 : 1;
      return;
    }
    const found = await runAudit(folder());
    answer(found, auditText(found));
    process.exitCode = found.ok ? 0 : 1;
  });

function auditText(a: AuditAnswer): string {
  const ms = (n: number): string => `${n.toFixed(0)} ms`;
  return [
    ...a.workloads.map((w) => `${w.workload}: longest gap ${ms(w.longestGapMs)}, overlap ${ms(w.longestOverlapMs)}`),
    ...a.violations.map((v) => `${v.kind} ${v.subject}: ${v.detail}`),
    a.ok ? 'audit: ok' : `audit: ${a.violations.length} violations`,
  ].join('\n');
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
  const clocks = Object.entries(info.clocks).map(([name, offset]) => `clock of ${name}: ${offset}`);
  const faults = [...info.faults.map(faultText), ...clocks];
  return [
    `${info.state}  ${info.mode}  ${info.api}  ${info.dir}`,
    '',
    ...hosts,
    ...peers,
    '',
    ...processes,
    ...(faults.length > 0 ? ['', ...faults] : []),
  ].join('\n');
}

try {
  await program.parseAsync();
} catch (e) {
  if (e instanceof CommanderError) process.exitCode = e.exitCode === 0 ? 0 : 2;
  else {
    const error = MusterError.from(e);
    if (json()) process.stdout.write(`${JSON.stringify({ ok: false, code: error.code, message: error.message })}\n`);
    say(`lab: ${error.message}`);
    process.exitCode = ['BAD_REQUEST', 'FORBIDDEN', 'NODE_UNKNOWN'].includes(error.code) ? 2 : 1;
  }
}
