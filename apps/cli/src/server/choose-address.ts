import type { Address } from './address.js';
import { ask, NoServer } from './ask.js';

/** A Muster that takes longer to say whether it is ready is not, ms: it may stand still with its ports open. */
const READY_LIMIT_MS = 3_000;

/** What an address is found to be, the best first. `mute`: it takes a connection, and says nothing. */
const STANDINGS = ['ready', 'unready', 'mute', 'silent'] as const;
type Standing = (typeof STANDINGS)[number];

export interface Choice {
  address: Address;
  /** Else none is, and another would be asked in vain. */
  isReady: boolean;
}

/**
 * The first of several that says that it is ready. Where none does: one that answers at all, since it says why.
 * @param ca PEM: trusted in the place of the authorities that Node trusts
 * @throws NoServer where none can be reached, with what was found at each
 */
export async function chooseAddress(addresses: readonly Address[], ca: string | undefined): Promise<Choice> {
  const chosen = new AbortController();
  const silent: string[] = [];
  const standings = addresses.map((address, i) =>
    standingOf(address, ca, chosen.signal).catch((error: unknown): Standing => {
      if (!(error instanceof NoServer)) throw error;
      if (error.mayHaveArrived) return 'mute';
      silent[i] = error.message;
      return 'silent';
    }),
  );
  try {
    const { found, at } = await firstOrBest(standings);
    const address = addresses[at];
    if (address === undefined || found === 'silent') throw new NoServer(silent.join('; '));
    return { address, isReady: found === 'ready' };
  } finally {
    // Those that are still asked would keep this program from its end.
    chosen.abort();
  }
}

/** It is open to everybody: a token is shown to nobody who is not asked for more. @throws NoServer */
async function standingOf(address: Address, ca: string | undefined, signal: AbortSignal): Promise<Standing> {
  const limits = { connectLimitMs: READY_LIMIT_MS, answerLimitMs: READY_LIMIT_MS };
  const answer = await ask(address, { method: 'GET', path: '/readyz', ca, signal, ...limits });
  answer.destroy();
  return answer.statusCode === 200 ? 'ready' : 'unready';
}

/** The first that is ready, as soon as it is known; else the best of all. */
const firstOrBest = (standings: readonly Promise<Standing>[]): Promise<{ found: Standing; at: number }> =>
  new Promise((resolve, reject) => {
    for (const [at, standing] of standings.entries())
      standing.then((found) => {
        if (found === 'ready') resolve({ found, at });
      }, reject);
    Promise.all(standings).then((all) => resolve(bestOf(all)), reject);
  });

function bestOf(standings: readonly Standing[]): { found: Standing; at: number } {
  const found = STANDINGS.find((standing) => standings.includes(standing)) ?? 'silent';
  return { found, at: standings.indexOf(found) };
}
