import { join } from 'node:path';
import { MusterError } from '#contracts';
import { controlEtc, endForwarder, startForwarder, startNats, startService } from '../cluster.js';
import { copyStoreImage, useCopiedImage } from '../faults/store-images.js';
import type { LabFolder, LabRecord } from '../folder.js';
import { setPorts } from '../network.js';
import {
  controlOfProcess,
  NETWORKS,
  natsProcess,
  serviceProcesses,
  type ControlPlan,
  type LabPlan,
  type Network,
} from '../plan.js';
import type { Processes } from '../processes.js';
import { hostProgram } from '../python.js';
import { changeControlState, controlState } from './control-state.js';

/** Words of `control N`: what happens to a whole control host. */
export const CONTROL_VERBS = ['kill', 'start', 'stop', 'cont', 'cut', 'heal'] as const;
export type ControlVerb = (typeof CONTROL_VERBS)[number];

export const isControlVerb = (word: string): word is ControlVerb => (CONTROL_VERBS as readonly string[]).includes(word);

/** A control host and the lab that it is of. */
export interface ControlAt {
  folder: LabFolder;
  processes: Processes;
  plan: LabPlan;
  record: LabRecord;
  control: ControlPlan;
}

/**
 * Carries out one of them. `networks` are those to cut, or all. NOT_FOUND where it is dead, or is not what the word would
 * undo; FORBIDDEN where the lab has not several.
 */
export async function changeControl(at: ControlAt, verb: ControlVerb, networks: readonly Network[]): Promise<void> {
  if (at.plan.controls.length < 2)
    throw new MusterError('FORBIDDEN', 'control is about one of several control hosts: lab up --control 3');
  const { dead, stopped } = controlState(at.folder, at.control);
  if (verb === 'start' ? !dead : dead)
    throw new MusterError('NOT_FOUND', `${at.control.name} ${dead ? 'is dead; start it first' : 'runs already'}`);
  if (verb === 'cont' && !stopped) throw new MusterError('NOT_FOUND', `${at.control.name} is not stopped`);
  switch (verb) {
    case 'kill':
      return await kill(at);
    case 'start':
      return await start(at);
    case 'stop':
      await signal(at, 'stop');
      return changeControlState(at.folder, at.control, { stopped: true });
    case 'cont':
      await signal(at, 'cont');
      return changeControlState(at.folder, at.control, { stopped: false });
    case 'cut':
      return await cables(at, [
        ...new Set([...controlState(at.folder, at.control).cut, ...(networks.length > 0 ? networks : NETWORKS)]),
      ]);
    case 'heal':
      return await cables(at, []);
  }
}

const signal = (at: ControlAt, verb: 'kill' | 'stop' | 'cont'): Promise<string> =>
  hostProgram(at.folder, 'control', at.control.netns ?? '', verb);

/** Cables first: the network stack of dead processes would refuse connections, and look alive. */
async function kill(at: ControlAt): Promise<void> {
  await setPorts(at.plan, at.control, []);
  changeControlState(at.folder, at.control, { dead: true, stopped: false, cut: [] });
  await signal(at, 'kill');
}

async function start(at: ControlAt): Promise<void> {
  const { folder, processes, plan, record, control } = at;
  await setPorts(plan, control, NETWORKS);
  changeControlState(folder, control, { dead: false });
  await startNats(folder, processes, plan, control);
  for (const name of servicesOf(plan, control)) startService(folder, processes, plan, record, name);
  startForwarder(folder, processes, record, control);
}

const servicesOf = (plan: LabPlan, control: ControlPlan): string[] =>
  serviceProcesses(plan).filter((name) => controlOfProcess(plan, name) === control);

/** Without the management network its gateway cannot be reached, as by anybody who is not on that machine. */
async function cables(at: ControlAt, cut: Network[]): Promise<void> {
  const { folder, processes, plan, record, control } = at;
  await setPorts(
    plan,
    control,
    NETWORKS.filter((n) => !cut.includes(n)),
  );
  changeControlState(folder, control, { cut });
  if (cut.includes('management')) await endForwarder(processes, control);
  else startForwarder(folder, processes, record, control);
}

/**
 * All of them lose their power at one instant, and with it what their nats-servers have not synced to their disks. FORBIDDEN
 * where the stores are not on disks of their own, NOT_FOUND where one is dead already.
 */
export async function cutPower(lab: Omit<ControlAt, 'control'>): Promise<void> {
  const { folder, plan, record } = lab;
  if (record.storeDisks !== true)
    throw new MusterError('FORBIDDEN', 'power-cut needs disks of their own: lab up --control 3 --store-disks');
  const dead = plan.controls.find((c) => controlState(folder, c).dead);
  if (dead !== undefined) throw new MusterError('NOT_FOUND', `${dead.name} is dead`);
  const each = (work: (at: ControlAt) => Promise<unknown>): Promise<unknown> =>
    Promise.all(plan.controls.map((control) => work({ ...lab, control })));
  // Still, and not dead: a process that ends has its files closed, and a server that is asked to end would sync them.
  await each((at) => signal(at, 'stop'));
  await each((at) => copyStoreImage(folder, at.control));
  await each(kill);
  await each((at) => useCopiedImage(folder, at.control, join(controlEtc(folder, plan, at.control), 'store')));
}

/** Whole again, whatever was done to it and whatever has died there. Answers what was undone. */
export async function healControl(at: ControlAt): Promise<string[]> {
  const { folder, control, processes, plan } = at;
  const { dead, stopped, cut } = controlState(folder, control);
  if (dead) {
    await start(at);
    return [`${control.name} started`];
  }
  if (stopped) await changeControl(at, 'cont', []);
  if (cut.length > 0) await cables(at, []);
  const natsDied = processes.alive(natsProcess(plan, control)) === undefined;
  if (natsDied) await startNats(folder, processes, plan, control);
  return [
    ...(stopped ? [`${control.name} goes on`] : []),
    ...(cut.length > 0 ? [`cables of ${control.name} whole`] : []),
    ...(natsDied ? [`${natsProcess(plan, control)} started`] : []),
  ];
}
