import { identityStanding, knownIdentity, provenIdentity, type AlarmCode, type NodeRecord } from '#contracts';
import type { WantedAlarm } from '../alarms/keep-alarms.js';
import { placeConflicts, placeText, type AddressesOf } from '../power/power-place.js';

/** Raised and cleared from here and nowhere else. */
export const identityAlarmCodes: readonly AlarmCode[] = ['power-place', 'power-identity', 'power-identity-unread'];

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
  return [...places.values(), ...foreign, ...nodes.flatMap(unread)];
}

/** Of a node that is heard: of one that is silent its incident says what its devices do not. */
function unread(n: NodeRecord): WantedAlarm[] {
  const device = n.powerLevels.flat().find((d) => provenIdentity(n, d)?.unread !== undefined);
  if (device === undefined || n.state !== 'Discovered') return [];
  const why = provenIdentity(n, device)?.unread?.why ?? 'no reason is known';
  return [
    {
      code: 'power-identity-unread',
      subject: n.name,
      severity: 'warning',
      message: `Its power device ${device.id} at ${placeText(device)} was proven to be its own, and does not say who it is any more (${why}): while it does not, it is given no off. See muster node power-device test ${n.name}; where its firmware says nothing of itself any more: muster node power-device set ${n.name} ${device.id} --username …, then muster node drill ${n.name} --reason ….`,
    },
  ];
}
