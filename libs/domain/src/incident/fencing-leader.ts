import type { IncidentRecord } from '#contracts';

/**
 * A fencing leader with a later token has written the incident: it is that one's, whatever an earlier leader believes.
 * @param token of the leader that asks
 */
export const isTakenOver = (i: Pick<IncidentRecord, 'epoch'>, token: number): boolean => (i.epoch ?? 0) > token;
