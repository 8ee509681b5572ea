import { MusterError } from '#contracts';
import type { LabFolder } from '../folder.js';
import type { ControlPlan, LabPlan } from '../plan.js';
import { isReachable } from './control-state.js';

/** A command as it is run on this control host: only from there NATS is reached. */
export const inNamespaceOf = (control: ControlPlan, argv: readonly string[]): [string, ...string[]] => {
  const enter = control.netns === undefined ? [] : ['nsenter', `--net=/run/netns/${control.netns}`];
  return [...enter, ...argv] as [string, ...string[]];
};

/** The same on the first control host that can be asked; where the lab has none, on the machine itself. NOT_FOUND where all are down */
export function onControl(folder: LabFolder, plan: LabPlan, argv: readonly string[]): [string, ...string[]] {
  if (plan.controls.length === 0) return [...argv] as [string, ...string[]];
  const control = plan.controls.find((c) => isReachable(folder, c));
  if (control === undefined)
    throw new MusterError('NOT_FOUND', 'no control host can be asked: all are dead, stopped or cut off');
  return inNamespaceOf(control, argv);
}
