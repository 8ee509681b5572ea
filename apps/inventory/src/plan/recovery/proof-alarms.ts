import type { IncidentRecord } from '#contracts';
import { isVoid } from '#domain/incident/phases.js';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import { collateralText } from '../../power/collateral.js';
import { movedText } from '../../power/void-proof.js';

/** Its off may have hit another node. */
export const mayHaveHit = (i: IncidentRecord): WantedAlarm => ({
  code: 'collateral',
  subject: i.node,
  severity: 'critical',
  message: `${collateralText(i)} Nothing of ${i.node} is recovered. Look which of them is off; where it is ${i.node}: muster incident confirm ${i.node} --reason "…"; where it is not, correct its power device: muster node power-device set ${i.node} ….`,
});

/** Its node has spoken in the boot that was to have ended, and may be silent again; or its device is another machine's. */
export function stillSpeaks(i: IncidentRecord): WantedAlarm {
  const proof = i.proof ?? i.contradiction?.proof;
  const moved = movedText(isVoid(i) ? (i.contradiction?.recovery ?? []) : i.recovery);
  const device = proof?.doubt?.device;
  if (device !== undefined) {
    const message = `${i.node} was proven off by its device ${device}, which was found to be another machine's: it may be on. ${moved} Nothing more of it is started. Correct the device: muster node power-device set ${i.node} …; where it is down: muster incident confirm ${i.node} --reason "…".`;
    return { code: 'conflict-power', subject: i.node, severity: 'critical', message };
  }
  const message =
    proof?.kind === 'manual'
      ? `${i.node} has reported since, in the boot that ${proof.by ?? 'an operator'} confirmed down. ${moved} Nothing more of it is started; end it on one side, then power ${i.node} off, or reboot it.`
      : `${i.node} has reported since, in the boot that its proof of off says has ended: is the device another machine's? ${moved} Nothing more of it is started. Correct the device: muster node power-device set ${i.node} …; where it is down now: muster incident confirm ${i.node} --reason "…".`;
  return { code: 'conflict-power', subject: i.node, severity: 'critical', message };
}
