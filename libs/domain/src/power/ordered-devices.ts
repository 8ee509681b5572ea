import { devicesMark, type IncidentRecord, type PowerDevice } from '#contracts';

/**
 * The power devices are others than those that the order to fence names: what those said or were given is of no device as
 * it is now. An edit is refused from the order on, but one that was prepared before it may be written as late as its proof.
 * @param order without `devices` it is of a version that named none, and nothing can be said
 * @param levels those of its node as they are now
 */
export const areOtherDevices = (
  { devices }: Pick<IncidentRecord, 'devices'>,
  levels: readonly (readonly PowerDevice[])[],
): boolean => devices !== undefined && devices !== devicesMark(levels);
