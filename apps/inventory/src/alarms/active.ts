import type { AlarmRecord } from '#contracts';

export const isActive = (a: AlarmRecord): boolean => a.cleared === undefined;

/** It is up, with these words. */
export const isUpAs = (
  a: AlarmRecord | undefined,
  { severity, message }: Pick<AlarmRecord, 'severity' | 'message'>,
): boolean => a !== undefined && isActive(a) && a.severity === severity && a.message === message;
