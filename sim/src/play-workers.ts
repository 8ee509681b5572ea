import { execaNode, type ResultPromise } from 'execa';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { PlayAnswer, PlayOrder, PlaySeries } from './play-worker.js';
import type { PlayIndices, PlayResult } from './play.js';

const PROGRAM = fileURLToPath(new URL('./play-worker.js', import.meta.url));

/** So many histories are sent to a worker at a time: few, so that none is left alone with many at the end. */
const AT_A_TIME = 4;

/**
 * A history is one thread that waits for nothing. The collector's and the compiler's own threads only take the cores
 * from other workers, and a larger nursery spares most of what they do: together a sixth of the time. The optimizing
 * compiler takes a third of the first fifty histories, on a thousand functions that are each called a little: it has to be
 * asked for five times as often.
 */
const NODE_OPTIONS = [
  '--single-threaded',
  '--max-semi-space-size=64',
  '--min-semi-space-size=64',
  '--interrupt-budget=600000',
];

export const coresAtHand = (): number => availableParallelism();

/**
 * Plays a series in processes of their own. What comes of it does not depend on how many there are: results are handed
 * over in the order of their indices.
 */
export const playInWorkers = (series: PlaySeries, workers: number): PlayIndices =>
  async function* (indices) {
    const orders: PlayOrder[] = [];
    for (let at = 0; at < indices.length; at += AT_A_TIME) orders.push(indices.slice(at, at + AT_A_TIME));
    const played: ((results: PlayResult[]) => void)[] = [];
    const lost: ((error: unknown) => void)[] = [];
    const answers = orders.map(
      (_, i) =>
        new Promise<PlayResult[]>((resolve, reject) => {
          played[i] = resolve;
          lost[i] = reject;
        }),
    );
    // They are awaited in their order: one that fails earlier than that is not unhandled.
    for (const answer of answers) answer.catch(() => undefined);
    let next = 0;
    const processes = Array.from({ length: Math.min(workers, orders.length) }, () => start(series));
    const serve = async (worker: Worker): Promise<void> => {
      for (let i = next++; i < orders.length; i = next++)
        try {
          played[i]?.(await ask(worker, orders[i] as PlayOrder));
        } catch (error) {
          lost[i]?.(error);
        }
    };
    const serving = Promise.all(processes.map(serve));
    try {
      for (const answer of answers) yield* await answer;
    } finally {
      // Also where a history has failed, or nobody wants the rest: what they still play is for nobody.
      next = orders.length;
      for (const worker of processes) worker.kill();
      await Promise.allSettled([serving, ...processes]);
    }
  };

type Worker = ResultPromise<typeof OPTIONS>;
const OPTIONS = {
  nodeOptions: NODE_OPTIONS,
  ipc: true,
  stdin: 'ignore',
  stdout: 'inherit',
  stderr: 'inherit',
} as const;

const start = (series: PlaySeries): Worker => {
  const worker = execaNode(PROGRAM, [JSON.stringify(series)], OPTIONS);
  // Its end is seen by whoever waits for its answer.
  worker.catch(() => undefined);
  return worker;
};

/** Rejects where the worker ends instead. */
async function ask(worker: Worker, order: PlayOrder): Promise<PlayResult[]> {
  const ended = worker.then(() => {
    throw new Error('a worker ended before it had played its histories');
  });
  ended.catch(() => undefined);
  const answered = worker.getOneMessage();
  answered.catch(() => undefined);
  await worker.sendMessage([...order]);
  const answer = (await Promise.race([answered, ended])) as PlayAnswer;
  if ('error' in answer) throw new Error(answer.error);
  return answer.results;
}
