import { MusterError } from '#contracts';

/** Member `rejoin` of agent.json by the words that the lab takes: all parts are on where nothing else is said. */
const REJOIN_PARTS = { loop: 'loop', timer: 'timer', triggers: 'triggers', 'low-rate': 'lowRate' } as const;
type Word = keyof typeof REJOIN_PARTS;
export type RejoinParts = Partial<Record<(typeof REJOIN_PARTS)[Word], boolean>>;

function partOf(word: string): (typeof REJOIN_PARTS)[Word] {
  if (Object.hasOwn(REJOIN_PARTS, word)) return REJOIN_PARTS[word as Word];
  const words = Object.keys(REJOIN_PARTS).join(', ');
  throw new MusterError('BAD_REQUEST', `rejoin has no part "${word}"; it has ${words}`);
}

/** `loop,timer`, also several times: those parts are off. BAD_REQUEST for a word that is none */
export const withoutParts = (words: readonly string[]): RejoinParts =>
  Object.fromEntries(words.flatMap((w) => w.split(',')).map((w) => [partOf(w.trim()), false]));

/** `loop=off,timer=on` laid over what was set before. BAD_REQUEST */
export function changedParts(before: RejoinParts, words: readonly string[]): RejoinParts {
  const changes = words
    .flatMap((w) => w.split(','))
    .map((pair): [string, boolean] => {
      const [word = '', value, more] = pair.trim().split('=');
      if (more !== undefined || (value !== 'on' && value !== 'off'))
        throw new MusterError('BAD_REQUEST', `"${pair}": on or off is expected, as in loop=off`);
      return [partOf(word), value === 'on'];
    });
  return { ...before, ...Object.fromEntries(changes) };
}
