import { Injectable } from '@nestjs/common';
import { RESERVATIONS_KEY, type Reservations, type Timer } from '#contracts';
import { GroupCommit, type Decision, type GroupChange } from '../store/group-commit.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AdmissionRound } from './admission-round.js';
import { noReservations } from './reservations.js';

/** What only tidies up waits this long for a change that takes it along, ms. */
const COMPANY_MS = 50;

/** A change that rests on nothing but the value. @returns undefined: there is nothing to change */
export type Tidying = (r: Reservations) => Reservations | undefined;

/** The one way in which this process changes the reservations: what is asked at the same time is written at once. */
@Injectable()
export class ReservationBook {
  private readonly commit: GroupCommit<Reservations, AdmissionRound>;
  private company: (() => void)[] = [];
  private timer: Timer | undefined;

  constructor(private readonly store: InventoryStore) {
    this.commit = new GroupCommit(
      store.reservations.bucket,
      RESERVATIONS_KEY,
      noReservations,
      () => new AdmissionRound(store),
      store.clock,
    );
  }

  /** As {@link GroupCommit.change}. */
  change<Facts, A>(c: GroupChange<Reservations, AdmissionRound, Facts, A>): Promise<A> {
    const written = this.commit.change(c);
    this.sendCompany();
    return written;
  }

  /** As {@link change}, for what rests on nothing but the value. */
  decide<A>(decide: (now: Reservations) => Decision<Reservations, A>): Promise<A> {
    return this.change({ read: async () => Promise.resolve(), decide });
  }

  /** The same, of which nobody asks what came of it. */
  tidy(tidying: Tidying): Promise<void> {
    return this.decide((now) => ({ next: tidying(now), answer: undefined }));
  }

  /** As {@link tidy}, for what nobody waits for: it goes along with the next change. */
  tidyAlong(tidying: Tidying): Promise<void> {
    return new Promise((resolve, reject) => {
      this.company.push(() => {
        this.tidy(tidying).then(resolve, reject);
      });
      this.timer ??= this.store.clock.after(COMPANY_MS, () => this.sendCompany());
    });
  }

  private sendCompany(): void {
    this.timer?.cancel();
    this.timer = undefined;
    for (const send of this.company.splice(0)) send();
  }
}
