import type { Bus } from '../bus.js';

const PATIENCE_MS = 8_000;

/**
 * A bus whose questions wait 8 s where they name no limit: on a machine that is busy with others a service that is well
 * may take longer than the product's own second or two, and less than a spec may leave a timer open. For specs that do not
 * ask somebody who dies.
 */
export function patient(bus: Bus): Bus {
  const [call, ask] = [bus.call.bind(bus), bus.ask.bind(bus)];
  bus.call = (verb, request, o) => call(verb, request, { timeoutMs: PATIENCE_MS, ...o });
  bus.ask = (subject, request, o) => ask(subject, request, { timeoutMs: PATIENCE_MS, ...o });
  return bus;
}
