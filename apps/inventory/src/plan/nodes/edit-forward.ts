import { RESERVATIONS_KEY } from '#contracts';
import { editOf } from '../../operations/edit-key.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import type { CompleteEdit, SweepEdit } from '../intent.js';

/** A prepared edit that nobody has decided for so long, ms, is given up: its replica is dead. */
export const UNDECIDED_MS = 60_000;

/** Completes edits that were decided and left half written, and sweeps those that were prepared and never decided. */
export const editForward: Concern<string> = {
  // That an edit is prepared, by its name, decided or not.
  conditions: (fleet) => ({ holds: prepared(fleet) }),
  plan: (fleet, ages) => {
    const decided = Object.keys(fleet.reservations.get(RESERVATIONS_KEY)?.value.edits ?? {});
    const old = [...prepared(fleet)].filter((edit) => !decided.includes(edit) && ages.of(edit) >= UNDECIDED_MS);
    return [...decided.map(complete), ...old.map(sweep)];
  },
};

const prepared = ({ reservations }: Fleet): Set<string> =>
  new Set(reservations.list.flatMap((e) => editOf(e.key) ?? []));

const complete = (edit: string): CompleteEdit => ({
  ...{ do: 'complete-edit', key: edit, about: { edit } },
  reason: 'It was decided, and is not all written.',
});

const sweep = (edit: string): SweepEdit => ({
  ...{ do: 'sweep-edit', key: edit, about: { edit } },
  reason: 'It was prepared long ago, and nobody has decided it.',
});
