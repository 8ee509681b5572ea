import type { NodeRecord } from '#contracts';
import { shownNode } from './shown-node.js';

/** Characters of nodes in one answer, about: a message has a largest size. */
export const MOST_CHARS = 600_000;

const texts = new WeakMap<NodeRecord, string>();

/** A record as readers see it, as JSON: written once for all answers until it changes. */
export function recordText(record: NodeRecord): string {
  let text = texts.get(record);
  if (text === undefined) texts.set(record, (text = JSON.stringify(shownNode(record))));
  return text;
}

/** The same with members beside its own; there is at least one. */
export const viewText = (record: NodeRecord, computed: object): string =>
  `${recordText(record).slice(0, -1)},${JSON.stringify(computed).slice(1)}`;
