import { UsageFailure } from '../failure/failure.js';
import { parseDuration } from '../output/times.js';

/**
 * A moment of the past: `15m` (ago), `20:15` or `20:15:03` (the last time it was that late), a day and time, or ms since
 * 1970. A time without a zone is one of this machine's, as it prints them.
 * @param now wall clock, ms
 * @throws UsageFailure
 */
export function pastMoment(option: string, text: string, now: number): number {
  if (/^\d+[smhd]$/.test(text)) return now - parseDuration(text);
  if (/^\d{12,14}$/.test(text)) return Number(text);
  const [, hours, minutes, seconds] = /^(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  const at =
    hours === undefined
      ? /^\d{4}-\d\d-\d\d[T ]\d/.test(text)
        ? Date.parse(text)
        : NaN
      : lastTime(Number(hours), Number(minutes), Number(seconds ?? 0), now);
  if (Number.isNaN(at))
    throw new UsageFailure(
      `${option}: "${text}" is no time: write 15m (ago), 20:15, 2026-11-21T20:15:00Z, or ms since 1970`,
    );
  if (at > now)
    throw new UsageFailure(
      `${option}: ${new Date(at).toISOString()} is yet to come: it is ${new Date(now).toISOString()}`,
    );
  return at;
}

/**
 * A moment to come: `7d` (from now), a day and time, or ms since 1970. A time without a zone is one of this machine's.
 * @param now wall clock, ms
 * @throws UsageFailure
 */
export function comingMoment(option: string, text: string, now: number): number {
  const at = /^\d+[smhd]$/.test(text)
    ? now + parseDuration(text)
    : /^\d{12,14}$/.test(text)
      ? Number(text)
      : /^\d{4}-\d\d-\d\d[T ]\d/.test(text)
        ? Date.parse(text)
        : NaN;
  if (Number.isNaN(at))
    throw new UsageFailure(
      `${option}: "${text}" is no time to come: write 7d (from now), 2026-11-21T20:15:00Z, or ms since 1970`,
    );
  if (at <= now) throw new UsageFailure(`${option}: ${new Date(at).toISOString()} is past`);
  return at;
}

/** Today, or yesterday where it is earlier now. */
function lastTime(hours: number, minutes: number, seconds: number, now: number): number {
  if (hours > 23 || minutes > 59 || seconds > 59) return NaN;
  const at = new Date(now);
  at.setHours(hours, minutes, seconds, 0);
  // By the calendar: a day that sets the clock has no 24 hours.
  if (at.getTime() > now) at.setDate(at.getDate() - 1);
  return at.getTime();
}
