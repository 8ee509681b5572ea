import { bmcAlive, killBmc, powerOf, rewire, setFault, setPower, startBmc, wiringsFor } from '../bmc.js';
import { execInHost, execOnControl, type ExecAnswer } from '../exec.js';
import { bootHost, crashHost, dozeHost, freezeHost, shutDownHost, thawHost } from '../hosts.js';
import { hostOf } from '../plan.js';
import { number } from './arguments.js';
import type { Cli } from './cli.js';

/** One host: its power, its processes. */
export function hostCommands(cli: Cli): void {
  cli.program
    .command('kill <host>')
    .description('as by a crash of its kernel: silent at once, its BMC still reads on')
    .option('--with-bmc', 'its BMC dies with it')
    .action(async (name: string, o: { withBmc?: boolean }) => {
      const { lab, host, processes } = cli.at(name);
      const time = await crashHost(lab, host);
      if (o.withBmc === true && bmcAlive(processes, host)) await killBmc(processes, host);
      cli.answer({ ok: true, host: host.name, node: host.node, ...time }, `${host.name} is dead`);
    });
  cli.program
    .command('boot <host>')
    .description('somebody presses the power button')
    .action(async (name: string) => {
      const { lab, plan, host, processes } = cli.at(name);
      const time = cli.now();
      if (!bmcAlive(processes, host)) await startBmc(lab, processes, plan, host);
      setPower(lab, host, 'on');
      await bootHost(lab, host);
      cli.answer({ ok: true, host: host.name, node: host.node, ...time }, `${host.name} runs`);
    });
  cli.program
    .command('reboot <host>')
    .description('in good order: every unit is stopped, the agent says that it leaves')
    .option('--for <seconds>', 'stays down so long', number(0), 0)
    .action(async (name: string, o: { for: number }) => {
      const { lab, host } = cli.at(name);
      const time = cli.now();
      await shutDownHost(lab, host, 'reboot');
      await new Promise((r) => setTimeout(r, o.for * 1000));
      // Whoever powers it off meanwhile ends the reboot.
      const boots = powerOf(lab, host) === 'on';
      if (boots) await bootHost(lab, host);
      cli.answer(
        { ok: true, host: host.name, node: host.node, boots, ...time },
        boots ? `${host.name} has rebooted` : `${host.name} was powered off while it was down`,
      );
    });
  cli.program
    .command('pause <host>')
    .description('every process of the host is stopped')
    .option('--only <unit>', 'one unit, e.g. agent')
    .option('--for <seconds>', 'and goes on after so long; the answer says how long it was', number(0.1))
    .action(async (name: string, o: { only?: string; for?: number }) => {
      const { lab, host } = cli.at(name);
      const unit = unitOf(o.only);
      const known = { ok: true, host: host.name, node: host.node, ...cli.now() };
      if (o.for === undefined) {
        await freezeHost(lab, host, unit);
        cli.answer(known, `${host.name} stands still`);
      } else {
        const { stoodMs } = await dozeHost(lab, host, o.for, unit);
        cli.answer({ ...known, stoodMs }, `${host.name} stood still for ${stoodMs} ms`);
      }
    });
  cli.program
    .command('resume <host>')
    .description('and goes on')
    .option('--only <unit>', 'one unit, e.g. agent')
    .action(async (name: string, o: { only?: string }) => {
      const { lab, host } = cli.at(name);
      await thawHost(lab, host, unitOf(o.only));
      cli.answer({ ok: true, host: host.name, node: host.node, ...cli.now() }, `${host.name} goes on`);
    });
  cli.program
    .command('exec <host> <command...>')
    .description(
      'run a command in a host, or on a control host (ctl; of several ctl1 …): exec host1 -- systemctl status',
    )
    .action(async (name: string, argv: string[]) => {
      const folder = cli.folder();
      folder.running();
      const control = folder.plan().controls.find((c) => c.name === name);
      const inHost = (): Promise<ExecAnswer> => {
        const { lab, plan, host } = cli.at(name);
        return execInHost(lab, plan.mode, host, argv, cli.json);
      };
      const done = await (control === undefined ? inHost() : execOnControl(folder, control, argv, cli.json));
      cli.answer(done);
      cli.exitCode(done.exitCode);
    });
}

export function bmcCommand(cli: Cli): void {
  cli.program
    .command('bmc <host> <fault> [other]')
    .description(
      'stuck_on, hold=get|set, fail=get|set, delay=SECONDS, dead; release, ok, alive; wired-to HOST, swap HOST, clone HOST, no-identity, own',
    )
    .action(async (name: string, word: string, other: string | undefined) => {
      const { lab, plan, host, processes } = cli.at(name);
      const time = cli.now();
      const wirings = wiringsFor(lab, host, word, other === undefined ? undefined : hostOf(plan, other));
      if (wirings !== undefined) for (const [h, wiring] of wirings) await rewire(lab, processes, plan, h, wiring);
      else if (word === 'dead') await killBmc(processes, host);
      else if (word === 'alive') await startBmc(lab, processes, plan, host);
      else setFault(lab, host, word);
      cli.answer(
        { ok: true, host: host.name, fault: word, power: powerOf(lab, host), ...time },
        `${host.name}: BMC ${word}`,
      );
    });
}

const unitOf = (name: string | undefined): string | undefined => {
  const unit = name === 'agent' ? 'muster-agent' : name;
  return unit === undefined || unit.includes('.') ? unit : `${unit}.service`;
};
