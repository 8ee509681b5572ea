import type { HardwareFacts, NodeRecord } from '#contracts';

/** What the machine has said of itself now; the same as before keeps its date, since each change is compared anew. */
export function withHardware(n: NodeRecord, said: Omit<HardwareFacts, 'at'> | undefined, at: number): NodeRecord {
  if (said === undefined) return n;
  const { systemUuid, bmcGuid, boardSerial, chassisSerial } = said;
  const hardware: HardwareFacts = {
    ...(systemUuid !== undefined && { systemUuid }),
    ...(bmcGuid !== undefined && { bmcGuid }),
    ...(boardSerial !== undefined && { boardSerial }),
    ...(chassisSerial !== undefined && { chassisSerial }),
    at,
  };
  const isSame = JSON.stringify({ ...n.hardware, at }) === JSON.stringify(hardware);
  return isSame ? n : { ...n, hardware };
}
