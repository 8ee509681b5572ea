import { setTimeout as pause } from 'node:timers/promises';
import { MusterError } from '#contracts';
import type { Bus } from '../bus/bus.js';

const PATIENCE_MS = 8_000;
const AGAIN_MS = 50;
/** What these answer they change nothing by. */
const READS = /\.(get|list|status)$/;

/**
 * A bus whose questions wait 8 s where they name no limit: on a machine that is busy with others a service that is well
 * may take longer than the product's own second or two, and less than a spec may leave a timer open. For so long it also
 * asks again what only reads where such a machine has broken its connection. For specs that do not ask somebody who dies.
 */
export function patient(bus: Bus): Bus {
  const [call, ask] = [bus.call.bind(bus), bus.ask.bind(bus)];
  bus.call = async (verb, request, o) => {
    const end = performance.now() + PATIENCE_MS;
    for (;;)
      try {
        return await call(verb, request, { timeoutMs: PATIENCE_MS, ...o });
      } catch (e) {
        const broke = READS.test(verb) && e instanceof MusterError && e.code === 'BUS_UNAVAILABLE';
        if (!broke || performance.now() > end) throw e;
        await pause(AGAIN_MS);
      }
  };
  bus.ask = (subject, request, o) => ask(subject, request, { timeoutMs: PATIENCE_MS, ...o });
  return bus;
}
