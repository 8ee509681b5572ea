/** Part of stored steps and events: another wording would not be found by `operatorWhoCancelled` of another version. */
const CANCELLED_IT = ' took it back: ';

/** The last step of an incident that an operator has cancelled, for people. */
export const operatorCancelText = (by: string, reason: string): string => `${by}${CANCELLED_IT}${reason}`;

/** Who cancelled it, by the text of its last step: its event has no other word of that. Undefined: nobody did. */
export function operatorWhoCancelled(detail: string): string | undefined {
  const end = detail.indexOf(CANCELLED_IT);
  return end > 0 ? detail.slice(0, end) : undefined;
}
