const TOOK_IT_BACK = ' took it back: ';

/** The last step of an incident that a person has cancelled, for people. */
export const takenBackText = (by: string, reason: string): string => `${by}${TOOK_IT_BACK}${reason}`;

/** Who cancelled it, by the text of its last step: its event has no other word of that. Undefined: nobody did. */
export function takenBackBy(detail: string): string | undefined {
  const end = detail.indexOf(TOOK_IT_BACK);
  return end > 0 ? detail.slice(0, end) : undefined;
}
