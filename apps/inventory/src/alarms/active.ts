import type { AlarmRecord } from '#contracts';

export const isActive = (a: AlarmRecord): boolean => a.cleared === undefined;
