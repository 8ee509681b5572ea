import { join } from 'node:path';
import type { ControlPlan } from '../plan.js';
import { run } from '../run.js';
import { inNamespaceOf } from './on-control.js';

/** Where nats-server of one of several control hosts shows its state, on its 127.0.0.1. */
export const MONITOR_PORT = 8222;

const LIMIT_MS = 5_000;

/** A page of it, e.g. `/healthz`. COMMAND_FAILED where it does not answer. */
export function askMonitor(control: ControlPlan, page: string): Promise<string> {
  const reader = join(import.meta.dirname, 'read-page.js');
  const argv = [process.execPath, reader, `http://127.0.0.1:${MONITOR_PORT}${page}`];
  const [command, ...args] = inNamespaceOf(control, argv);
  return run(command, args, { timeoutMs: LIMIT_MS });
}
