import { identityStanding, knownIdentity, type AlarmCode, type NodeRecord } from '#contracts';
import type { WantedAlarm } from '../alarms/keep-alarms.js';
import { placeConflicts, placeText, type AddressesOf } from '../power/power-place.js';

/** Raised and cleared from here and nowhere else. */
export const identityAlarmCodes: readonly AlarmCode[] = ['power-place', 'power-identity'];

/** Devices that may be another machine's: each node once, with what is to be done. */
export function identityAlarms(nodes: readonly NodeRecord[], addressesOf: AddressesOf): WantedAlarm[] {
  const places = new Map<string, WantedAlarm>();
  for (const c of placeConflicts(nodes, addressesOf))
    if (!places.has(c.node))
      places.set(c.node, {
        code: 'power-place',
        subject: c.node,
        severity: 'critical',
        message: `Its power device ${c.device} is at ${c.place}, where ${c.others.join(' and ')} has one too: none of them is fenced, since an off could reach either. Correct the address or outlet of the wrong one: muster node power-device set NODE DEVICE --address ….`,
      });
  const foreign = nodes.flatMap((n): WantedAlarm[] => {
    const device = n.powerLevels.flat().find((d) => identityStanding(n, d) === 'mismatch');
    if (device === undefined) return [];
    return [
      {
        code: 'power-identity',
        subject: n.name,
        severity: 'critical',
        message: `Its power device ${device.id} at ${placeText(device)} is another machine's: ${knownIdentity(n, device)?.why ?? 'its identity differs'}. It is not fenced. Correct the wiring or the address, then muster node power-device test ${n.name}; where the device is its own all the same: muster node power-device acknowledge ${n.name} ${device.id} --reason ….`,
      },
    ];
  });
  return [...places.values(), ...foreign];
}
