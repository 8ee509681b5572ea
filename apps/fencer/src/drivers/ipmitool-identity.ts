import type { GuardResult } from '#bus';
import type { DeviceFacts } from '#contracts';
import { ipmitoolFailure } from './ipmitool-answer.js';
import type { DeviceIdentity } from './power-driver.js';

/** Get System GUID (IPMI 2.0, 22.14). */
export const GET_SYSTEM_GUID: readonly string[] = ['raw', '0x06', '0x37'];
/** Of the BMC itself: the board that it is on. */
export const PRINT_FRU: readonly string[] = ['fru', 'print', '0'];

/** A BMC that has no such command has answered all the same. */
export function readGuid(r: GuardResult): DeviceIdentity {
  const hex = r.stdout.replace(/\s/g, '').toLowerCase();
  if (r.exitCode === 0 && /^[0-9a-f]{32}$/.test(hex)) return { seen: { guid: hex } };
  if (r.exitCode !== null && /Unable to send RAW command .*rsp=0x[0-9a-f]+\)/.test(r.stderr)) return { seen: {} };
  return ipmitoolFailure('identify', r);
}

/** Serial numbers in what `fru print` says; nothing where it says none. */
export function readFru(stdout: string): DeviceFacts {
  const field = (name: string): string | undefined => new RegExp(`^ *${name} *: *(\\S.*?) *$`, 'm').exec(stdout)?.[1];
  const [boardSerial, chassisSerial] = [field('Board Serial'), field('Chassis Serial')];
  return { ...(boardSerial !== undefined && { boardSerial }), ...(chassisSerial !== undefined && { chassisSerial }) };
}
