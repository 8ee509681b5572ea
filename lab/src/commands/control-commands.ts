import { MusterError } from '#contracts';
import { changeControl, CONTROL_VERBS, cutPower, isControlVerb } from '../controls/control-host.js';
import { networksOf } from '../faults/switch-fault.js';
import { controlOf, NETWORKS } from '../plan.js';
import { Processes } from '../processes.js';
import type { Cli } from './cli.js';

/** Whole control hosts of several. */
export function controlCommands(cli: Cli): void {
  one(cli);
  cli.program
    .command('power-cut')
    .description(
      'all control hosts lose their power at once, and what they have not synced; control N start boots each',
    )
    .action(async () => {
      const folder = cli.folder();
      const record = folder.running();
      const plan = folder.plan();
      const time = cli.now();
      await cutPower({ folder, processes: new Processes(folder), plan, record });
      const names = plan.controls.map((c) => c.name);
      cli.answer({ ok: true, controls: names, ...time }, `${names.join(', ')}: without power`);
    });
}

function one(cli: Cli): void {
  cli.program
    .command('control <n> <verb>')
    .description(
      `${CONTROL_VERBS.join(', ')}: a whole control host of several: it crashes and starts, all its processes are stopped and go on, its cables are cut and whole`,
    )
    .option('--network <name...>', 'of a cut: management, backend, oob; default: all')
    .action(async (n: string, verb: string, o: { network?: string[] }) => {
      if (!isControlVerb(verb))
        throw new MusterError('BAD_REQUEST', `control takes ${CONTROL_VERBS.join(', ')}, not "${verb}"`);
      if (o.network !== undefined && verb !== 'cut')
        throw new MusterError('BAD_REQUEST', `--network goes with cut, not with ${verb}`);
      const networks = o.network === undefined ? [] : networksOf(o.network, NETWORKS);
      const folder = cli.folder();
      const record = folder.running();
      const plan = folder.plan();
      const control = controlOf(plan, Number(n));
      const time = cli.now();
      await changeControl({ folder, processes: new Processes(folder), plan, record, control }, verb, networks);
      cli.answer({ ok: true, control: control.name, verb, ...time }, `${control.name}: ${verb}`);
    });
}
