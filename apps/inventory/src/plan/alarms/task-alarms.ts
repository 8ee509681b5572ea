import type { TaskView } from '#contracts';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Concern } from '../concern.js';
import { alarmIntents } from './alarm-intents.js';

/** So often in a row, and for so long, ms: what the bus or a lost compare-and-set spoils for a moment is no news. */
const FAILING = { times: 5, forMs: 30_000 };

/** The alarms about the tasks of this conductor, itself among them. `term`: it is the conductor. */
export const alarmsOfTasks: Concern<'term'> = {
  perTerm: true,
  conditions: () => ({ holds: ['term'] }),
  plan: (fleet, ages) => {
    if (!fleet.alarms.live) return [];
    const tasks = fleet.failingTasks();
    return alarmIntents(fleet, ['task-failing'], taskAlarms(tasks), (a) => isOver(a.subject, tasks, ages.of('term')));
  },
};

/** An alarm for each task that fails again and again. Its words change only with what fails, and not with each try. */
export function taskAlarms(tasks: readonly TaskView[]): WantedAlarm[] {
  return tasks.flatMap(({ name, severity, errors, errorsForMs, lastError: e }): WantedAlarm[] => {
    if (e === undefined || errors < FAILING.times || errorsForMs < FAILING.forMs) return [];
    const what = e.about === undefined ? '' : ` of ${e.about}`;
    const message = `The task ${name}${what} fails each time with ${e.code}: that stands still until it succeeds.`;
    return [{ code: 'task-failing', subject: name, severity, message }];
  });
}

/**
 * Whether it is known that a task fails no more: a new conductor has seen it fail no more for as long as it would have
 * taken to tell, and for that long the word of the one before stands.
 * @param tasks those that fail, at least
 * @param termMs age of the term
 */
export const isOver = (task: string, tasks: readonly TaskView[], termMs: number): boolean =>
  termMs >= FAILING.forMs && !tasks.some((t) => t.name === task && t.errors > 0);
