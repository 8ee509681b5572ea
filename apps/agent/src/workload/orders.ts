import { join } from 'node:path';
import type { Clock } from '#contracts/ports/clock.js';
import { askGate, notifyAgent } from '../control/client.js';
import { reasonOf } from '../log/agent-log.js';
import { withLock } from './lock.js';
import { runningUnits, systemctl, SYSTEMCTL_LIMIT } from './systemctl.js';
import { defaultUnit, readWorkload, workloadsDir, writeWorkload, type WorkloadFile } from './workload-files.js';

/** s; an order that cannot have the lock for this long gives up: whoever gave it tries again. */
const LOCK_WAIT = 10;

/** Why an order was not carried out; exit code of the command. */
export class OrderRefused extends Error {
  constructor(
    readonly code: 'STALE' | 'GATE' | 'FAILED',
    message: string,
  ) {
    super(message);
    this.name = 'OrderRefused';
  }
}

export interface Order {
  name: string;
  generation: number;
  unit?: string;
}

/** An order is older than the last one that was carried out: whoever gave it has been overtaken. */
function refuseStale(order: Order, known: WorkloadFile | undefined): void {
  if (known && known.generation > order.generation)
    throw new OrderRefused(
      'STALE',
      `${order.name}: generation ${order.generation} is older than ${known.generation}, which this node has seen`,
    );
}

const locked = async <T>(clock: Clock, name: string, fn: () => Promise<T>): Promise<T> => {
  try {
    return await withLock(join(workloadsDir(), `${name}.lock`), LOCK_WAIT, fn);
  } finally {
    await notifyAgent(clock, { op: 'workloads-changed' });
  }
};

async function act(clock: Clock, verb: string, unit: string): Promise<void> {
  const { code, stderr } = await systemctl(clock, [verb, unit], SYSTEMCTL_LIMIT.act);
  if (code !== 0) throw new OrderRefused('FAILED', `systemctl ${verb} ${unit} ended with ${code}: ${stderr.trim()}`);
}

/** Starts the unit, once the gate has said that this node holds this very generation. Starting a running one is no error. */
export const startWorkload = (clock: Clock, order: Order): Promise<WorkloadFile> =>
  locked(clock, order.name, async () => {
    const known = await readWorkload(order.name);
    refuseStale(order, known);
    const gate = await askGate(clock, order.name, order.generation);
    if (!gate.allowed) throw new OrderRefused('GATE', `${order.name}: ${gate.reason}`);
    const unit = order.unit ?? known?.unit ?? defaultUnit(order.name);
    const file: WorkloadFile = { name: order.name, generation: order.generation, unit, desired: 'running' };
    // Before the start: from here on an older order is refused, also when this process dies in between.
    await writeWorkload(file);
    await act(clock, 'enable', unit);
    await act(clock, 'start', unit);
    if (!(await runningUnits(clock, [unit])).has(unit))
      throw new OrderRefused('FAILED', `${unit} is not active after its start`);
    return file;
  });

/** Stops the unit and reads back that nothing of it runs; it will not start at boot either. */
export const stopWorkload = (clock: Clock, order: Order): Promise<WorkloadFile> =>
  locked(clock, order.name, async () => {
    const known = await readWorkload(order.name);
    refuseStale(order, known);
    const unit = order.unit ?? known?.unit ?? defaultUnit(order.name);
    const file: WorkloadFile = { name: order.name, generation: order.generation, unit, desired: 'stopped' };
    await writeWorkload(file);
    // What was never installed here cannot be disabled or stopped; only the read-back decides.
    const failures: string[] = [];
    for (const verb of ['disable', 'stop'])
      await act(clock, verb, unit).catch((e: unknown) => failures.push(reasonOf(e)));
    if ((await runningUnits(clock, [unit])).has(unit))
      throw new OrderRefused('FAILED', `${unit} still runs after its stop${failures.map((f) => `; ${f}`).join('')}`);
    return file;
  });
