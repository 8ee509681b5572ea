import type { PowerDevice } from '#contracts';
import type { PowerOutcome } from './power-driver.js';

type Code = Required<PowerOutcome>['code'];

/** What a person does about it; `<node>` stands where the driver does not know it. */
const advice = (code: Code, d: PowerDevice): string | undefined => {
  if (code === 'BMC_TIMEOUT')
    return `is it reachable from this host (UDP), and is IPMI over LAN switched on? Other place: muster node power-device set <node> ${d.id} --address … --port …`;
  if (code === 'BMC_AUTH')
    return `correct it by: muster node power-device set <node> ${d.id} --username … --password-stdin`;
  if (code === 'BMC_CIPHER') return `name one: muster node power-device set <node> ${d.id} --option cipher=17`;
  return undefined;
};

/** A failure with the place that was spoken to, the user, and what to do. */
export function namedFailure(address: string, d: PowerDevice, code: Code, detail: string): string {
  const user = d.username === undefined ? '' : ` as ${d.username}`;
  const what = advice(code, d);
  return `${d.id} at ${address}${user}: ${detail}${what === undefined ? '' : `; ${what}`}`;
}
