import { POLLED_MOST } from '#contracts';

/**
 * Whom the monitor asks about one suspect: every member but the suspect itself, and where there are more than
 * {@link POLLED_MOST}, so many at random. Who was drawn for this suspicion stays drawn, whatever he answered: a draw that
 * is repeated until most report it down would be no draw. Only who is no member any more is replaced.
 * @param random 0 (inclusive) to 1
 */
export function drawPolled(
  drawn: readonly string[],
  members: readonly string[],
  suspect: string,
  random: () => number,
): string[] {
  const left = new Set(members);
  left.delete(suspect);
  const kept = drawn.filter((o) => left.delete(o));
  const rest = [...left];
  const wanted = Math.min(POLLED_MOST - kept.length, rest.length);
  // The first steps of a Fisher–Yates shuffle.
  for (let i = 0; i < wanted; i++) {
    const j = i + Math.floor(random() * (rest.length - i));
    [rest[i], rest[j]] = [rest[j] as string, rest[i] as string];
  }
  return [...kept, ...rest.slice(0, wanted)];
}
