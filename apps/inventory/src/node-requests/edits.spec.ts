import { expect, it } from 'vitest';
import type { Reservations } from '#contracts';
import { decideEdit, finishEdit } from './edits.js';

const none: Reservations = { held: {}, pending: {}, generation: 7 };

it('an edit frees its nodes when it is written, and what was prepared while it was under way is prepared anew', () => {
  const decided = decideEdit(none, 'e1', ['a-1'], 1);
  expect([decided.generation > none.generation, decided.held['a-1']?.edit]).toEqual([true, 'e1']);
  const finished = finishEdit(decided, 'e1', 42);
  expect(finished).toMatchObject({ held: {}, edits: {}, nodesAt: 42 });
  expect(finished?.generation).toBeGreaterThan(decided.generation);
  expect(finishEdit(finished as Reservations, 'e1', 42)).toBeUndefined();
});
