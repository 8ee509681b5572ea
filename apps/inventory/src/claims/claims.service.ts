import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  isOpenIncident,
  MusterError,
  parseSelector,
  RESERVATIONS_KEY,
  type By,
  type ClaimRecord,
  type ClaimRequest,
  type EventMap,
  type NodePredicate,
  type NodeRecord,
  type OutReason,
  type Page,
  type PageRequest,
  type Reservations,
} from '#contracts';
import type { Entry } from '#bus';
import { isOnlyPeriodicCheck } from '../nodes/in-service.js';
import { ServiceView } from '../nodes/service-view.js';
import type { AdmissionRound } from '../operations/admission-round.js';
import { ReservationBook } from '../operations/reservation-book.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { page } from '../store/page.js';
import { timedId } from '../store/timed-id.js';
import { chooseNodes, type Candidate } from './claim-choice.js';
import { confirmClaim, dropClaim, giveUpClaim, takeClaim } from '#domain/claim/claim-holds.js';

/** A claim whose nodes went out of service while it was taken is chosen anew so often. */
const TRIES = 3;

type Asked = ClaimRequest & By & { key?: string };

/** Serviceable nodes for schedulers outside: all that were asked for, or none. */
@Injectable()
export class ClaimsService {
  constructor(
    private readonly store: InventoryStore,
    private readonly book: ReservationBook,
    private readonly service: ServiceView,
  ) {}

  /**
   * Takes `count` nodes by one compare-and-set, then looks at them once more: one that has left service meanwhile gives
   * the claim up, and others are chosen. It is pending until then: where this process dies between the two, it is given up.
   * Two requests with one key have one claim: one that another of them has confirmed is never given up.
   * @throws MusterError NO_SERVICEABLE_NODE with counts by reason; HOST_GROUP_INVALID; BAD_REQUEST for the selector
   */
  async create(asked: Asked): Promise<ClaimRecord> {
    const fits = this.fitting(asked);
    for (let tries = 1; ; tries++) {
      const { claim, known } = await this.take(asked, fits);
      if (known) return claim;
      const lost = await this.outNow(claim.nodes);
      const confirmed = lost === undefined ? await this.confirm(claim) : undefined;
      if (confirmed !== undefined) {
        await this.publish(confirmed, 'taken');
        return confirmed;
      }
      const stands = await this.giveUp(claim.id);
      if (stands !== undefined) return stands;
      if (tries === TRIES)
        throw new MusterError(
          'NO_SERVICEABLE_NODE',
          lost === undefined
            ? 'it took too long to look at the nodes again; ask again in a moment'
            : `nodes go out of service as they are claimed: ${lost.node} just did (${lost.code}); ask again in a moment`,
          { wanted: asked.count, reasons: lost === undefined ? {} : { [lost.code]: 1 } },
        );
    }
  }

  /** By id; the cursor is the last one shown. */
  list(q: PageRequest & { owner?: string }): Page<ClaimRecord> {
    const claims = Object.values(this.store.reservations.view.get(RESERVATIONS_KEY)?.value.claims ?? {});
    const own = claims.filter((c) => q.owner === undefined || c.owner === q.owner);
    own.sort((a, b) => (a.id < b.id ? -1 : 1));
    return page(own, q, (c) => c.id);
  }

  /** @throws MusterError CLAIM_UNKNOWN */
  async get(id: string): Promise<ClaimRecord> {
    const now = await this.store.reservations.bucket.get(RESERVATIONS_KEY);
    const claim = now?.value.claims?.[id];
    if (!claim) throw unknownClaim(id);
    return claim;
  }

  /** @throws MusterError CLAIM_UNKNOWN */
  async delete(id: string): Promise<void> {
    const claim = await this.book.decide((now) => {
      const stands = now.claims?.[id];
      if (stands === undefined) throw unknownClaim(id);
      return { next: dropClaim(now, id), answer: stands };
    });
    await this.publish(claim, 'released');
  }

  /** Ends the claim where it is still as the caller believes. @returns whether it was ended here */
  async expire(id: string, isOver: (c: ClaimRecord) => boolean): Promise<boolean> {
    const claim = await this.book.decide((now) => {
      const stands = now.claims?.[id];
      return stands && isOver(stands) ? { next: dropClaim(now, id), answer: stands } : { answer: undefined };
    });
    if (claim && claim.pending !== true) await this.publish(claim, 'expired');
    return claim !== undefined;
  }

  private take(asked: Asked, fits: NodePredicate): Promise<{ claim: ClaimRecord; known: boolean }> {
    const id = asked.key === undefined ? timedId('claim', this.store) : keyedClaimId(asked.by, asked.key);
    return this.book.change<AdmissionRound, { claim: ClaimRecord; known: boolean }>({
      read: async (now, round) => {
        await round.catchUp(now);
        return round;
      },
      decide: (now, round) => {
        const before = now.claims?.[id];
        if (before) return { answer: { claim: sameClaim(before, asked), known: before.pending !== true } };
        const nodes = chooseNodes(asked.count, this.candidates(now, round, fits));
        const claim = claimOf(asked, id, nodes, this.store.clock.wallMs());
        return { next: takeClaim(now, claim), answer: { claim, known: false } };
      },
    });
  }

  private confirm(read: ClaimRecord): Promise<ClaimRecord | undefined> {
    return this.book.decide((now) => {
      const confirmed = confirmClaim(now, read);
      return { next: confirmed?.next, answer: confirmed?.claim };
    });
  }

  /** @returns the claim where it stands all the same */
  private giveUp(id: string): Promise<ClaimRecord | undefined> {
    return this.book.decide((now) => {
      const { next, stands } = giveUpClaim(now, id);
      return { next, answer: stands };
    });
  }

  private fitting(asked: Asked): NodePredicate {
    const { hostGroup, selector } = asked;
    if (hostGroup !== undefined && !this.store.clusterSettings.hostGroups.some((g) => g.name === hostGroup))
      throw new MusterError('HOST_GROUP_INVALID', `invalid host-group specified: "${hostGroup}"`, { hostGroup });
    const selected = selector === undefined ? () => true : parseSelector(selector);
    return (n) => (hostGroup === undefined || n.hostGroup === hostGroup) && selected(n);
  }

  private candidates(now: Reservations, round: AdmissionRound, fits: NodePredicate): Candidate[] {
    const candidates: Candidate[] = [];
    for (const node of round.nodes.values()) {
      const { name } = node;
      const seen: Entry<NodeRecord> = { key: name, value: node, revision: 0 };
      if (!fits(this.service.view(seen))) continue;
      const hold = now.held[name];
      const reasons = this.reasons(node, hold !== undefined && !isOnlyPeriodicCheck(hold));
      candidates.push({ name, failureDomain: node.failureDomain, reasons });
    }
    return candidates;
  }

  /** The view of what is held may be a moment old: the value that is decided on is not. */
  private reasons(node: NodeRecord, held: boolean): OutReason['code'][] {
    const codes = this.service.reasons(node).map((r) => r.code);
    return [...codes.filter((code) => code !== 'RESERVED'), ...(held ? (['RESERVED'] as const) : [])];
  }

  /** Reads anew what a view may show late. @returns the first that is out of service now */
  private async outNow(names: readonly string[]): Promise<{ node: string; code: OutReason['code'] } | undefined> {
    let lost: { node: string; code: OutReason['code'] } | undefined;
    await inParallel(names, async (name) => {
      const [node, incident] = await Promise.all([
        this.store.nodes.bucket.get(name),
        this.store.incidents.bucket.get(name),
      ]);
      const [code] = node ? this.reasons(node.value, false) : (['STATE'] as const);
      if (code !== undefined) lost = { node: name, code };
      else if (incident && isOpenIncident(incident.value)) lost = { node: name, code: 'INCIDENT' };
    });
    return lost;
  }

  private publish({ id, owner, nodes }: ClaimRecord, change: EventMap['claim']['change']): Promise<void> {
    return this.store.bus.emit('claim', id, { claim: id, owner, nodes, change }, { id: `${id}.${change}` });
  }
}

function claimOf(r: Asked, id: string, nodes: string[], at: number): ClaimRecord {
  const claim: ClaimRecord = { id, owner: r.owner, nodes, by: r.by, at, pending: true };
  if (r.hostGroup !== undefined) claim.hostGroup = r.hostGroup;
  if (r.selector !== undefined) claim.selector = r.selector;
  if (r.ttl !== undefined) claim.expiresAt = at + r.ttl * 1000;
  return claim;
}

/** The same for the same key of the same caller. */
const keyedClaimId = (by: string, key: string): string =>
  `claim-${createHash('sha256')
    .update(JSON.stringify([by, key]))
    .digest('hex')
    .slice(0, 24)}`;

function sameClaim(claim: ClaimRecord, r: Asked): ClaimRecord {
  const same =
    claim.nodes.length === r.count &&
    claim.owner === r.owner &&
    claim.hostGroup === r.hostGroup &&
    claim.selector === r.selector;
  if (same) return claim;
  throw new MusterError(
    'IDEMPOTENCY_MISMATCH',
    `this key came with another request before, which became ${claim.id}: take a new key for a new request`,
    { claim: claim.id },
  );
}

const unknownClaim = (id: string): MusterError =>
  new MusterError('CLAIM_UNKNOWN', `there is no claim "${id}"`, { claim: id });
