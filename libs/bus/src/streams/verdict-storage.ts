import { fromToken, Streams, Subjects } from '#contracts';
import type { Link } from '../ports/link.js';

/** What the stream of verdicts and events holds, and may. */
export interface EventStorage {
  bytes: number;
  messages: number;
  /** The oldest are dropped beyond this; absent: no limit. */
  mostBytes?: number;
  /** Verdicts by node. */
  verdicts: Map<string, number>;
}

const PREFIX = Subjects.verdict('');

export async function eventStorage(link: Link): Promise<EventStorage> {
  const { bytes, messages, config, subjects } = await link.messages.info(Streams.events.name, {
    subjects: `${PREFIX}>`,
  });
  return {
    bytes,
    messages,
    ...(config.max_bytes > 0 && { mostBytes: config.max_bytes }),
    verdicts: new Map(
      Object.entries(subjects ?? {}).map(([subject, count]) => [fromToken(subject.slice(PREFIX.length)), count]),
    ),
  };
}

/**
 * Drops verdicts but for the newest so many, of one node or, with `*`, of all together; nothing else of the stream. The
 * server does nothing else with the stream meanwhile: some 20 ms a call, of whatever node.
 */
export async function keepVerdicts(link: Link, node: string, keep: number): Promise<void> {
  await link.messages.purge(Streams.events.name, { subject: Subjects.verdict(node), keep });
}
