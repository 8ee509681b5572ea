import { MusterError, type Clock, type RecoverTask } from '#contracts';

export interface StartAnswers {
  allowed: RecoverTask[];
  refused: { workload: string; reason: string }[];
}

type Ask = (q: { workload: string; node: string; generation: number }) => Promise<{ allowed: boolean; reason: string }>;

/** Tries while inventory is not there (it restarts), and the pause between them, ms. */
const TRIES = 5;
const PAUSE_MS = 500;

/**
 * May these still be started (or stopped) on the node? Asked right before: the registry may have moved on since the job was
 * written. No answer is no: a start is retried by whoever owes it, two copies cannot be taken back.
 */
export async function askStarts(
  tasks: readonly RecoverTask[],
  node: string,
  ask: Ask,
  clock: Clock,
): Promise<StartAnswers> {
  const answers: StartAnswers = { allowed: [], refused: [] };
  await Promise.all(
    tasks.map(async (task) => {
      const { workload, generation, driver } = task;
      // A stop makes no second copy, and the node itself refuses one that was overtaken.
      const answer =
        driver !== 'ansible'
          ? { allowed: false, reason: `the recovery driver ${driver} is not carried out by this provisioner` }
          : task.stop === true
            ? { allowed: true, reason: '' }
            : await askPatiently({ workload, node, generation }, ask, clock);
      if (answer.allowed) answers.allowed.push(task);
      else answers.refused.push({ workload, reason: answer.reason });
    }),
  );
  // In the order of the job: that of priority.
  answers.allowed.sort((a, b) => tasks.indexOf(a) - tasks.indexOf(b));
  return answers;
}

async function askPatiently(
  q: Parameters<Ask>[0],
  ask: Ask,
  clock: Clock,
): Promise<{ allowed: boolean; reason: string }> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask(q);
    } catch (error) {
      const failure = MusterError.from(error);
      const passing = ['NO_RESPONDER', 'TIMEOUT', 'BUS_UNAVAILABLE', 'NOT_LEADER'].includes(failure.code);
      if (!passing || tries >= TRIES)
        return { allowed: false, reason: `inventory did not say that it may start: ${failure.message}` };
      await clock.sleep(PAUSE_MS);
    }
  }
}
