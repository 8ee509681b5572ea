import type { LeaseView } from '#contracts';
import type { WantedAlarm } from '../alarms/keep-alarms.js';

/** Where a holder's token is below one in the records that it guards: each of its writes is refused as an older one's. */
export function behindAlarms(
  leases: readonly Pick<LeaseView, 'name' | 'holder' | 'token'>[],
  floors: Readonly<Record<string, number>>,
): WantedAlarm[] {
  return leases.flatMap((l): WantedAlarm[] => {
    const floor = Object.hasOwn(floors, l.name) ? (floors[l.name] ?? 0) : 0;
    if (l.holder === undefined || l.token >= floor) return [];
    return [
      {
        code: 'token-behind',
        subject: l.name,
        severity: 'critical',
        message:
          `${l.holder} holds the lease ${l.name} with token ${l.token}, and records hold ${floor}: what it writes is refused. ` +
          'It takes the lease anew by itself; where this stands for longer than 10 s, restart it.',
      },
    ];
  });
}
