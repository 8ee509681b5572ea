import { FencingNumbers, type CommandLog, type IncidentRecord, type PowerCommand } from '#contracts';

/**
 * When a level is over, ms after level 0 began: the first has 12 s where others follow, all together 20 s. One that is
 * given up early leaves its time to the next.
 */
export function levelEnd(level: number, levels: number): number {
  if (level >= levels - 1) return FencingNumbers.allLevels;
  const rest = FencingNumbers.allLevels - FencingNumbers.firstLevel;
  return FencingNumbers.firstLevel + (rest * level) / (levels - 1);
}

/** When a level would begin if those before it took all their time. */
export const levelStart = (level: number, levels: number): number => (level <= 0 ? 0 : levelEnd(level - 1, levels));

/** The level that an attempt begins with: the first, but of a drill the one that is drilled. */
export const firstLevel = (i: Pick<IncidentRecord, 'drill'>): number => i.drill?.level ?? 0;

/** The last `off` that was ordered of a device as it is now, and how many; of any attempt, or of one level of one. */
export function latestOff(
  log: CommandLog,
  device: string,
  of?: { attempt: number; level: number },
): { command: PowerCommand; count: number } | undefined {
  const offs = log.commands.filter(
    (c) =>
      c.verb === 'off' &&
      c.device === device &&
      c.n > (log.devicesAfter ?? 0) &&
      (of === undefined || ((c.attempt ?? 0) === of.attempt && c.level === of.level)),
  );
  const command = offs.at(-1);
  return command === undefined ? undefined : { command, count: offs.length };
}
