import type { Sender } from '../nats/played-server.js';

interface Term {
  holder: string;
  sinceMs: number;
}

/** What a write is, beside the terms of the lease under which its sender acts. */
export interface WriteFacts {
  /** Its sender held its lease when it was sent, and another one holds it by now. */
  isLate: boolean;
  /** It and the last write of the record are of two conductors, each of whom held the lease when it sent. */
  ofTwoConductors: boolean;
}

/** Kinds of programs by their names, and the lease under which the one acts that leads. */
const leaseOf = (client: string): string | undefined =>
  client.startsWith('inventory-') ? 'conductor' : client.startsWith('fencer-') ? 'fencer' : undefined;

/** A program by its kind, as it is called in probes. */
export const kindOf = (client: string): string =>
  client.startsWith('inventory-') ? 'an inventory' : client.startsWith('fencer-') ? 'a fencer' : 'a provisioner';

/** Who held which lease when, and who wrote each record last. */
export class Writers {
  private readonly terms = new Map<string, Term[]>();
  private readonly last = new Map<string, Sender>();

  /** @param holder empty: nobody */
  leads(lease: string, holder: string, nowMs: number): void {
    const terms = this.terms.get(lease) ?? [];
    this.terms.set(lease, terms);
    if (terms.at(-1)?.holder !== holder) terms.push({ holder, sinceMs: nowMs });
  }

  wrote(record: string, from: Sender): void {
    this.last.set(record, from);
  }

  factsOf(record: string, from: Sender): WriteFacts {
    const lease = leaseOf(from.client);
    const before = this.last.get(record);
    const isOfConductor = (s: Sender | undefined): boolean =>
      s !== undefined && leaseOf(s.client) === 'conductor' && this.heldAt('conductor', s);
    return {
      isLate: lease !== undefined && this.heldAt(lease, from) && this.isTaken(lease, from),
      ofTwoConductors: before?.client !== from.client && isOfConductor(before) && isOfConductor(from),
    };
  }

  private heldAt(lease: string, { client, sentMs }: Sender): boolean {
    return this.terms.get(lease)?.findLast((t) => t.sinceMs <= sentMs)?.holder === client;
  }

  private isTaken(lease: string, { client }: Sender): boolean {
    const holder = this.terms.get(lease)?.at(-1)?.holder ?? '';
    return holder !== '' && holder !== client;
  }
}
