import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import type { Concern } from '../concern.js';
import type { FailRecord, Intent } from '../intent.js';
import { hasSettled, settling, type SettledCondition } from '../settled.js';
import { contradicted, proven } from '../power/contradicted.js';
import { awaitedStarts } from './awaited-starts.js';
import { doubleConditions, doubles } from './doubles.js';
import { isEveryServiceHeard } from './candidate-nodes.js';
import { startAlarms } from './start-alarms.js';
import { mustAnswer, silentNodes } from './start-check.js';
import { awaitsNode, left, retry, word, type OwedCondition, type StartCondition } from './start-conditions.js';
import { startIntents } from './start-intents.js';
import { ownSteps, startSteps, taken, type StartStep } from './start-steps.js';

type Condition = StartCondition | SettledCondition;

/**
 * Every workload that shall run: assigned to one node, and started there exactly once. Each round takes every record as
 * it is and does the next step that it calls for; nothing is remembered between rounds but since when.
 */
export const starts: Concern<Condition> = {
  conditions: (fleet, ages) => {
    const asked = new Set<StartCondition>();
    // An age is that of what holds where the decision goes by it.
    const steps = ownSteps(fleet, {
      of: (condition) => {
        asked.add(condition);
        return ages.of(condition);
      },
    });
    const settled = settling(fleet, ages, () => isEverybodyHeard(fleet));
    const known = proven(fleet);
    return {
      holds: [...asked, ...known.made, ...doubleConditions(fleet), ...settled.holds],
      unknown: [...goOn(fleet, steps.made), ...(settled.unknown ?? [])],
      failed: [...steps.failed, ...known.failed],
    };
  },
  plan: (fleet, ages): Intent[] => {
    const steps = startSteps(fleet, ages);
    const settled = hasSettled(fleet, ages, () => isEverybodyHeard(fleet));
    return [
      ...unclear(fleet),
      ...contradicted(fleet, ages).failed,
      ...steps.failed,
      ...startIntents(fleet, steps.made),
      ...startAlarms(fleet, steps, ages, settled),
    ];
  },
};

/** All that starts rest on, and that could not be judged. Most rounds nothing is to be started: then no node is looked at. */
function unclear(fleet: Fleet): FailRecord[] {
  const { awaited, failed } = awaitedStarts(fleet);
  const asked = awaited.length === 0 ? [] : [...mustAnswer(fleet).failed, ...taken(fleet).failed];
  return [...failed, ...doubles(fleet).failed, ...asked];
}

/** All services are heard, and all nodes. */
const isEverybodyHeard = perFleet(
  (fleet: Fleet): boolean => isEveryServiceHeard(fleet) && silentNodes(fleet).length === 0,
);

/** Ages of what is owed that go on, although nothing goes by them now: it waits for something else meanwhile. */
function goOn(fleet: Fleet, steps: readonly StartStep[]): OwedCondition[] {
  const over = new Set(steps.flatMap(ended));
  const { awaited, moving } = awaitedStarts(fleet);
  const owed = awaited.filter((w) => w.start !== undefined).flatMap((w) => [awaitsNode(w), word(w), retry(w)]);
  return [...moving.map(left), ...owed].filter((condition) => !over.has(condition));
}

/** Its node is in service: it is not waited for any longer, nor anybody's word that does not lack now. */
const ended = ({ workload: w, do: does, code }: StartStep): OwedCondition[] =>
  does === 'start' || code === 'RETRY' || code === 'SILENT' ? [awaitsNode(w), word(w)] : [];
