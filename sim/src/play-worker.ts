import { getEachMessage, sendMessage } from 'execa';
import { MusterError } from '#contracts';
import type { PlayResult } from './play.js';
import { players, seeded, type PlayerName } from './players.js';

/** Which series it plays: random histories of the seed, or the crash points of a named one. */
export interface PlaySeries {
  player: PlayerName;
  /** @default that of the named history */
  seed?: number;
  /** Name of the history. */
  sweep?: string;
}

/** What a worker is sent: indices of its series. It answers with what came of each, in their order. */
export type PlayOrder = readonly number[];
export type PlayAnswer = { results: PlayResult[] } | { error: string };

/** A process that plays what it is sent, until nobody sends any more. */
async function work({ player: name, seed, sweep }: PlaySeries): Promise<void> {
  const player = await players[name]();
  const one = (index: number): Promise<PlayResult> => {
    if (sweep === undefined) return player.oneRandom(seed ?? 1, index);
    const named = player.play.named[sweep];
    if (named === undefined) throw new MusterError('BAD_REQUEST', `no history ${sweep}`);
    return player.oneCrashed(seeded(named, seed), index);
  };
  for await (const order of getEachMessage()) {
    const results: PlayResult[] = [];
    try {
      for (const index of order as PlayOrder) results.push(await one(index));
      await sendMessage({ results } satisfies PlayAnswer);
    } catch (e) {
      await sendMessage({ error: e instanceof Error ? (e.stack ?? e.message) : String(e) } satisfies PlayAnswer);
    }
  }
}

await work(JSON.parse(process.argv[2] ?? '{}') as PlaySeries);
