import { Injectable } from '@nestjs/common';
import { ConductorService } from '../conductor/conductor.service.js';
import { IdentityReads } from '../identity/identity-reads.js';
import { eachRecord } from '../plan/each-record.js';
import { bearsOut } from '../plan/incidents/openings.js';
import type { FailRecord } from '../plan/intent.js';
import { silent } from '../plan/recovery/proof-facts.js';
import { ageMs } from '../snapshot/ages.js';
import { FleetSource } from '../snapshot/fleet-source.js';
import type { Inquiry, Investigation, Suspicions } from '../snapshot/investigation.js';
import { InventoryStore } from '../store/inventory-store.js';
import { VerdictNow } from '../verdicts/verdict-now.js';
import { GateFactsService } from './gate-facts.js';
import { PowerEvidence } from './power-evidence.js';

/** Finds out about nodes that may be dead what no view shows: asks the detector, the power devices, and the records live. */
@Injectable()
export class Investigator {
  constructor(
    private readonly store: InventoryStore,
    private readonly verdictNow: VerdictNow,
    private readonly facts: GateFactsService,
    private readonly power: PowerEvidence,
    private readonly fleets: FleetSource,
    private readonly identity: IdentityReads,
    private readonly conductor: ConductorService,
  ) {}

  /**
   * Returns at once. To be called each round: by it the ages of all silences are true.
   * @returns those whose devices could not be asked, and where there are suspects, those that could not be looked at beside them
   */
  suspect({ silent: suspects, identity }: Suspicions): FailRecord[] {
    this.facts.seeSilent();
    const gathered = eachRecord(
      suspects,
      ({ name }) => ({ node: name }),
      (node) => {
        this.power.gather(node);
        return [node];
      },
    );
    this.power.keep(new Set(suspects.map((n) => n.name)));
    const settled = (): void => this.conductor.wake('identity-reads');
    this.identity.begin(gathered.made, settled);
    // What was answered long ago is asked anew, and waited for.
    this.identity.forgetOld();
    this.identity.begin(identity, settled);
    const unclear = suspects.length === 0 ? [] : [...this.facts.unplaced(), ...silent(this.fleets.now()).failed];
    return [...gathered.failed, ...unclear];
  }

  /**
   * Undefined: it has no incident, and the verdict as of now does not bear out that it needs one.
   * @throws MusterError RECORD_UNREADABLE for its incident, or as a read fails
   */
  async of({ node, cause, degraded, incident }: Inquiry): Promise<Investigation | undefined> {
    const askedAt = this.store.clock.monotonicMs();
    const verdict = await this.verdictNow.of(node.name);
    if (incident === undefined && !bearsOut(verdict, { node, degraded: degraded === true })) return undefined;
    const o = { cause, incident, ...(degraded === true && { degraded }) };
    const gates = await this.facts.gather(node, verdict, o);
    return {
      gates,
      story: this.power.story(node.name),
      silent: silent(this.fleets.now()).made.flatMap((s) => (s.node === node.name ? [] : [s.node])),
      askedAgo: ageMs(this.store.clock.monotonicMs() - askedAt),
    };
  }
}
