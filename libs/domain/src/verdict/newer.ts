/** Said by a sender that numbers what it says, and takes a greater epoch with each start. */
export interface Numbered {
  epoch: number;
  seq: number;
}

/** Of two verdicts, or of two reports of one node: arrival tells nothing, since they come twice and in any order. */
export const isNewer = (a: Numbered, b: Numbered | undefined): boolean =>
  b === undefined || a.epoch > b.epoch || (a.epoch === b.epoch && a.seq > b.seq);
