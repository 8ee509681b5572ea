import { UsageFailure } from '../failure/failure.js';
import type { Terminal } from './terminal.js';

const units: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30s`, `15m`, `2h`, `1d` → ms. @throws UsageFailure */
export function parseDuration(text: string): number {
  const match = /^(\d+)([smhd])$/.exec(text);
  if (match === null) throw new UsageFailure(`"${text}" is no duration: write 30s, 15m, 2h or 1d`);
  return Number(match[1]) * (units[match[2] ?? ''] ?? 0);
}

/** ms since something, short: `0.3 s`, `42 s`, `3 min`, `5 h`, `2 d`. */
export function shortAge(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

/** The same in whole days from two on, and never more than it is: `9 days`. */
export const wholeAge = (ms: number): string =>
  ms < 172_800_000 ? shortAge(Math.max(0, ms)) : `${Math.floor(ms / 86_400_000)} days`;

const two = (n: number): string => String(n).padStart(2, '0');

/** Wall clock of this machine's zone, with milliseconds. */
export function clock(at: number): string {
  const date = new Date(at);
  return `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

/** Day and time: of this machine's zone for people, ISO 8601 in a pipe; `-` where there is none. */
export function moment(at: number | undefined, terminal: Terminal): string {
  if (at === undefined) return '-';
  const date = new Date(at);
  if (!terminal.interactive) return date.toISOString();
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${date.toTimeString().slice(0, 8)}`;
}
