import { startQuestions } from '#domain/workload/start-decision.js';
import type { Mutant } from '../mutant.js';

/** What the start gate asks in its own row of the table. */
const ofGate: readonly string[] = ['BARRED', 'SEEN_RUNNING'];
const registered: readonly string[] = startQuestions.gate.filter((code) => !ofGate.includes(code));

/** A row of a question: a reason, or the reasons of the start gate, which `permission` has as well. */
const passedOver = (asker: string, row: string, name: string): Mutant => ({
  name,
  file: 'libs/domain/src/workload/start-decision.ts',
  symbol: asker === 'gate' && !ofGate.some((code) => row === `'${code}'`) ? 'registered' : `startQuestions.${asker}`,
  operation: { row },
  specs: ['libs/domain/src/workload/start-decision.spec.ts'],
  // Without the spec that compares the table with its questions: it turns red for some of them, whatever is decided.
  test: 'what stands against a start',
});

/** Each reason of each question is passed over by who asks it; by the table itself, so that a new one is not left out. */
export const startReasons: readonly Mutant[] = [
  ...Object.entries(startQuestions).flatMap(([asker, codes]) =>
    codes
      .filter((code) => asker !== 'permission' || !registered.includes(code))
      .map((code) => passedOver(asker, `'${code}'`, `${code} does not stand against a start for ${asker}`)),
  ),
  passedOver('permission', '...registered', 'a provisioner starts what the start gate refuses'),
];
