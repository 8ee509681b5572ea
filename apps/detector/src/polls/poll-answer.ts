import { POLL_TARGETS, type PollAnswer } from '#contracts';
import { isCount } from '#contracts/wire/wire-checks.js';

/** No node has more. */
const MOST_NETWORKS = 4;

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

const isTried = (x: unknown): boolean =>
  isObject(x) && isCount(x['sent']) && isCount(x['answered']) && x['answered'] <= x['sent'];

const isTarget = (x: unknown): boolean => {
  if (!isObject(x) || typeof x['name'] !== 'string' || !isObject(x['networks'])) return false;
  const tried = Object.values(x['networks']);
  return tried.length <= MOST_NETWORKS && tried.every(isTried);
};

/** What came back for a poll of `asked`; undefined where anything about it is off, or where somebody else speaks. */
export function readPollAnswer(x: unknown, asked: string): PollAnswer | undefined {
  if (!isObject(x) || x['node'] !== asked || !isCount(x['epoch']) || typeof x['abstain'] !== 'boolean')
    return undefined;
  const targets = x['targets'];
  if (!Array.isArray(targets) || targets.length > POLL_TARGETS || !targets.every(isTarget)) return undefined;
  return x as unknown as PollAnswer;
}
