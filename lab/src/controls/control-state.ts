import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { LabFolder } from '../folder.js';
import type { ControlPlan, Network } from '../plan.js';

/** What was done to a control host. */
export interface ControlState {
  dead: boolean;
  /** Every process of it is stopped. */
  stopped: boolean;
  /** Networks whose cable is cut. */
  cut: Network[];
}

const WHOLE: ControlState = { dead: false, stopped: false, cut: [] };

const file = (folder: LabFolder, control: ControlPlan): string => folder.at('run', `${control.name}.state`);

export const controlState = (folder: LabFolder, control: ControlPlan): ControlState =>
  existsSync(file(folder, control))
    ? (JSON.parse(readFileSync(file(folder, control), 'utf8')) as ControlState)
    : { ...WHOLE };

export function changeControlState(folder: LabFolder, control: ControlPlan, change: Partial<ControlState>): void {
  const aside = `${file(folder, control)}.new`;
  writeFileSync(aside, JSON.stringify({ ...controlState(folder, control), ...change }));
  renameSync(aside, file(folder, control));
}

/** It runs, and its management cable is whole: it can be asked, and can reach the others. */
export function isReachable(folder: LabFolder, control: ControlPlan): boolean {
  const { dead, stopped, cut } = controlState(folder, control);
  return !dead && !stopped && !cut.includes('management');
}
