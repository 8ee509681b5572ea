import { MusterError } from '#contracts';
import { killNats, startNats, startService, useNats } from '../cluster.js';
import { breakService, isServiceFault, SERVICE_FAULTS } from '../faults/service-fault.js';
import { changeStoreDisk, DISK_VERBS, isDiskVerb } from '../faults/store-disk.js';
import { controlOf, servicesNamed } from '../plan.js';
import { Processes } from '../processes.js';
import { addWorkload } from '../workload.js';
import type { Cli } from './cli.js';

/** Muster's own processes, and NATS. */
export function serviceCommands(cli: Cli): void {
  cli.program
    .command('service <name> <verb>')
    .description(
      'detector, inventory, provisioner, fencer, gateway, or one of them (fencer.2): kill, pause, resume, start; no-ipmitool, no-fork, whole',
    )
    .action(async (name: string, verb: string) => {
      const lab = cli.folder();
      const record = lab.running();
      const processes = new Processes(lab);
      const names = servicesNamed(lab.plan(), name);
      const time = cli.now();
      if (isServiceFault(verb)) {
        for (const p of names) await breakService(lab.plan(), processes, p, verb);
        cli.answer({ ok: true, services: names, verb, ...time }, `${names.join(', ')}: ${verb}`);
        return;
      }
      const acts: Record<string, (p: string) => unknown> = {
        kill: (p) => processes.kill(p),
        pause: (p) => processes.signal(p, 'SIGSTOP'),
        resume: (p) => processes.signal(p, 'SIGCONT'),
        start: (p) => startService(lab, processes, lab.plan(), record, p),
      };
      const act = acts[verb];
      if (act === undefined)
        throw new MusterError(
          'BAD_REQUEST',
          `service takes kill, pause, resume, start, ${SERVICE_FAULTS.join(', ')}, not "${verb}"`,
        );
      // One that is already as wanted does not stop the others of its kind.
      const wanted = names.filter((p) => (processes.alive(p) === undefined) === (verb === 'start'));
      if (wanted.length === 0)
        throw new MusterError(
          'NOT_FOUND',
          `${names.join(', ')}: ${verb === 'start' ? 'runs already' : 'does not run'}`,
        );
      for (const p of wanted) await act(p);
      cli.answer({ ok: true, services: wanted, verb, ...time }, `${wanted.join(', ')}: ${verb}`);
    });
  cli.program
    .command('nats <verb> [subject] [text]')
    .description(
      'kill, start [N]: of control host N, where there are several; disk own|full|room (it gets a disk of its own, which is full, or has room); publish SUBJECT TEXT and request SUBJECT TEXT as a tool of the operator would',
    )
    .option('--as <user>', 'of the users in etc/creds, e.g. agent=host1-L1', 'tools')
    .action(async (verb: string, subject: string | undefined, text: string | undefined, o: { as: string }) => {
      const lab = cli.folder();
      lab.running();
      const processes = new Processes(lab);
      const time = cli.now();
      if (verb === 'publish' || verb === 'request') {
        if (subject === undefined) throw new MusterError('BAD_REQUEST', `nats ${verb} needs a subject`);
        const said = await useNats(lab, lab.plan(), o.as, verb, subject, text ?? '');
        cli.answer({ ok: true, answer: said, ...time }, said);
        return;
      }
      if (verb === 'disk') {
        if (!isDiskVerb(subject)) throw new MusterError('BAD_REQUEST', `nats disk takes ${DISK_VERBS.join(', ')}`);
        await changeStoreDisk(lab, processes, lab.plan(), subject);
        cli.answer({ ok: true, verb, disk: subject, ...time }, `the disk under NATS: ${subject}`);
        return;
      }
      if (verb === 'kill' || verb === 'start') {
        const control = controlOf(lab.plan(), Number(subject ?? 1));
        if (verb === 'kill') await killNats(processes, lab.plan(), control);
        else await startNats(lab, processes, lab.plan(), control);
      } else throw new MusterError('BAD_REQUEST', `nats takes kill, start, disk, publish or request, not "${verb}"`);
      cli.answer({ ok: true, verb, ...time }, `nats: ${verb}`);
    });
}

export function workloadCommand(cli: Cli): void {
  cli.program
    .command('workload <verb> <name>')
    .description('add NAME --on HOST: a heartbeat that writes to the ledger every 50 ms, managed by Muster')
    .requiredOption('--on <host>', 'where it starts')
    .action(async (verb: string, name: string, o: { on: string }) => {
      if (verb !== 'add') throw new MusterError('BAD_REQUEST', `workload takes add, not "${verb}"`);
      const { lab } = cli.at(o.on);
      const workload = await addWorkload(lab, name, o.on);
      cli.answer({ ok: true, workload }, `${name} runs on ${o.on}`);
    });
}
