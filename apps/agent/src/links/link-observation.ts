import { linkClass, type LinkClass } from '#contracts/wire/link.js';
import type { DetectionSettings } from '#contracts/settings/settings.js';
import { UNSENT_ERROR_MOST, type Unsent } from '#contracts/wire/unsent.js';
import { LinkQuality } from './link-quality.js';

/**
 * An echo counts while it comes within this share of the interval. Below 1, so that a probe is judged before the next
 * one goes out. Six misses then end 2.9 s after the first lost probe, 3.4 s after the last echo: more than the silence
 * timeout.
 */
export const DUE_SHARE = 0.8;

export interface Link {
  /** Consecutive probes that were sent and due while this process ran, and were not answered. */
  misses: number;
  /** µs; -1: no echo since the start, since it went silent, or since too many probes in a row had none or did not leave. */
  rttUs: number;
  /** Probes since the last echo that had none, whether they left or not. */
  unanswered: number;
  /** Since the last probe that left. */
  unsent?: { probes: number; since: number; error: string };
  pending?: { nonce: string; sentAt: number; dueAt: number };
  /** Of the probes that were judged. A row of misses that made the link silent is an outage, and told as such. */
  quality: LinkQuality;
}

const unknown = (): Link => ({ misses: 0, rttUs: -1, unanswered: 0, quality: new LinkQuality() });

export type LinkNumbers = Pick<DetectionSettings, 'interval' | 'misses' | 'suspectMisses'>;

const classOf = ({ misses, rttUs }: Link, n: LinkNumbers): LinkClass => linkClass(misses, rttUs, n);

/** An echo counts no longer than until so many probes after it make a suspect: none that did not leave prolongs it. */
function forgetEcho(link: Link, n: LinkNumbers): void {
  if (link.unanswered >= n.suspectMisses && link.misses < n.suspectMisses) link.rttUs = -1;
}

/**
 * What this node hears of every peer on every shared network. Counts probes, never compares the age of an echo with a
 * clock: after a pause of this process (or of the whole host) nobody is reported down for what we did not do.
 * Times are monotonic ms and come in as arguments.
 */
export class LinkObservations {
  private readonly links = new Map<string, Map<string, Link>>();
  private readonly byNonce = new Map<string, { peer: string; network: string }>();
  private stoodStillAt = -Infinity;
  private changed = 0;
  /** Probes that did not leave, since the start. */
  unsentProbes = 0;

  constructor(private n: LinkNumbers) {}

  /** Grows whenever a link changes its class: what others must hear at once. */
  get changes(): number {
    return this.changed;
  }

  /**
   * Other numbers from now on. A report that a peer is down must hold by them as if they had always been in force: so
   * many probes, and so much time. Misses at a shorter interval are scaled down to the time that they span (12 at 250
   * ms are 3 at 1 s); at a longer one they keep their number, for more probes than were sent cannot have been missed.
   */
  tune(n: LinkNumbers): void {
    const share = Math.min(1, this.n.interval / n.interval);
    const same =
      n.interval === this.n.interval && n.misses === this.n.misses && n.suspectMisses === this.n.suspectMisses;
    this.n = n;
    if (same) return;
    for (const networks of this.links.values())
      for (const link of networks.values()) {
        link.misses = Math.floor(link.misses * share);
        link.unanswered = Math.floor(link.unanswered * share);
        forgetEcho(link, n);
        const { pending } = link;
        if (pending) pending.dueAt = Math.max(pending.dueAt, pending.sentAt + n.interval * DUE_SHARE);
      }
    this.changed++;
  }

  /** Peers and networks as they are now; what stays keeps its counts. */
  watch(peers: ReadonlyMap<string, readonly string[]>): void {
    for (const peer of [...this.links.keys()]) if (!peers.has(peer)) this.forget(peer);
    for (const [peer, networks] of peers) {
      const known = this.links.get(peer) ?? new Map<string, Link>();
      for (const network of [...known.keys()]) if (!networks.includes(network)) this.drop(known, network);
      for (const network of networks) if (!known.has(network)) known.set(network, unknown());
      this.links.set(peer, known);
    }
  }

  link(peer: string, network: string): Readonly<Link> | undefined {
    return this.links.get(peer)?.get(network);
  }

  sent(peer: string, network: string, nonce: string, now: number): void {
    const link = this.links.get(peer)?.get(network);
    if (!link) return;
    if (link.pending) this.byNonce.delete(link.pending.nonce);
    link.pending = { nonce, sentAt: now, dueAt: now + this.n.interval * DUE_SHARE };
    this.byNonce.set(nonce, { peer, network });
  }

  /**
   * The send failed: the probe never was, and says nothing of the peer. As many in a row as make a suspect, and the link
   * is as if it had never been looked at: neither what was heard nor what was missed before speaks of now.
   */
  unsent(nonce: string, now: number, error: string): void {
    const at = this.byNonce.get(nonce);
    this.byNonce.delete(nonce);
    const link = at && this.links.get(at.peer)?.get(at.network);
    if (!link || link.pending?.nonce !== nonce) return;
    delete link.pending;
    this.unsentProbes++;
    this.stayed(link, now, error);
  }

  /**
   * A rejoin attempt to this lost peer failed: it counts as a probe that did not leave, for nobody probes it. Where
   * that made the link mute, the peer is proven silent no more.
   */
  rejoinUnsent(peer: string, network: string, now: number, error: string): void {
    const link = this.links.get(peer)?.get(network);
    if (link) this.stayed(link, now, error);
  }

  /** A rejoin attempt to this lost peer left, and had no answer. */
  rejoinSent(peer: string, network: string): void {
    const link = this.links.get(peer)?.get(network);
    if (link) this.left(link);
  }

  /** Network → whom we cannot send to there; a network on which we can send to everybody is left out. */
  unsentBy(networks: readonly string[], now: number): Record<string, Unsent> {
    const all: Record<string, Unsent> = {};
    for (const [peer, links] of this.links)
      for (const network of networks) {
        const link = links.get(network);
        if (!link?.unsent || !this.isMute(link)) continue;
        const { probes, since, error } = link.unsent;
        const forMs = Math.round(now - since);
        const told = (all[network] ??= { peers: [], probes: 0, forMs: 0, error: error.slice(0, UNSENT_ERROR_MOST) });
        told.peers.push(peer);
        told.probes = Math.max(told.probes, probes);
        told.forMs = Math.max(told.forMs, forMs);
      }
    for (const { peers } of Object.values(all)) peers.sort();
    return all;
  }

  /** False: late, a duplicate, or of someone or something else. */
  echo(peer: string, network: string, nonce: string, now: number): boolean {
    const at = this.byNonce.get(nonce);
    if (at?.peer !== peer || at.network !== network) return false;
    this.byNonce.delete(nonce);
    const link = this.links.get(peer)?.get(network);
    if (link?.pending?.nonce !== nonce) return false;
    const before = classOf(link, this.n);
    const lost = before === 'silent' ? 0 : link.misses;
    link.quality.count(lost + 1, lost, now);
    link.rttUs = Math.max(0, Math.round((now - link.pending.sentAt) * 1000));
    link.misses = 0;
    link.unanswered = 0;
    this.left(link);
    delete link.pending;
    if (before !== 'heard') this.changed++;
    return true;
  }

  /** When the next probe of a link that has missed some already is due; undefined while nothing is missed. */
  nextMissDue(): number | undefined {
    let due: number | undefined;
    for (const networks of this.links.values())
      for (const { misses, pending } of networks.values())
        if (misses > 0 && pending && (due === undefined || pending.dueAt < due)) due = pending.dueAt;
    return due;
  }

  /** Counts the probes that are due and unanswered. */
  judge(now: number): void {
    for (const networks of this.links.values())
      for (const link of networks.values()) {
        if (!link.pending || link.pending.dueAt > now) continue;
        this.byNonce.delete(link.pending.nonce);
        delete link.pending;
        const before = classOf(link, this.n);
        link.misses++;
        link.unanswered++;
        this.left(link);
        forgetEcho(link, this.n);
        const after = classOf(link, this.n);
        if (after === 'silent') link.rttUs = -1;
        if (after !== before) this.changed++;
      }
  }

  /**
   * The loop stood still for `gapMs`: whatever was outstanding is void, for its echo may have come and gone unread, and
   * this observer abstains until every link has been probed and judged again. After more than the silence timeout
   * nothing that was counted before is consecutive any more.
   */
  stoodStill(gapMs: number, now: number): void {
    this.byNonce.clear();
    const tooLong = gapMs > this.n.interval * this.n.misses;
    for (const networks of this.links.values())
      for (const link of networks.values()) {
        delete link.pending;
        if (!tooLong) continue;
        Object.assign(link, { misses: 0, rttUs: -1, unanswered: 0 });
        delete link.unsent;
      }
    this.stoodStillAt = now;
    this.changed++;
  }

  abstains(now: number): boolean {
    return now < this.stoodStillAt + this.n.interval * (1 + DUE_SHARE);
  }

  /** Unanswered on every shared network for at least `misses` probes. */
  silentFor(peer: string, misses: number): boolean {
    const networks = this.links.get(peer);
    if (!networks || networks.size === 0) return false;
    return [...networks.values()].every((l) => l.misses >= misses);
  }

  /** A peer that rejoined, or that has another address, is examined anew: nothing is known of it yet. */
  reset(peer: string): void {
    const networks = this.links.get(peer);
    for (const network of [...(networks?.keys() ?? [])]) {
      this.drop(networks!, network);
      networks!.set(network, unknown());
    }
    this.changed++;
  }

  /**
   * The peer is lost and no longer probed: an echo that is still on its way must not turn one link back to `heard` for
   * as long as nobody examines it.
   */
  leave(peer: string): void {
    for (const link of this.links.get(peer)?.values() ?? []) {
      if (link.pending) this.byNonce.delete(link.pending.nonce);
      delete link.pending;
    }
  }

  private isMute(link: Link): boolean {
    return (link.unsent?.probes ?? 0) >= this.n.suspectMisses;
  }

  /** A probe or a rejoin attempt did not leave. */
  private stayed(link: Link, now: number, error: string): void {
    const before = classOf(link, this.n);
    const probes = (link.unsent?.probes ?? 0) + 1;
    link.unsent = { probes, since: link.unsent?.since ?? now, error };
    link.unanswered++;
    if (this.isMute(link)) Object.assign(link, { misses: 0, rttUs: -1 });
    else forgetEcho(link, this.n);
    if (classOf(link, this.n) !== before || probes === this.n.suspectMisses) this.changed++;
  }

  /** A probe left: it is judged by what came back. */
  private left(link: Link): void {
    if (this.isMute(link)) this.changed++;
    delete link.unsent;
  }

  private forget(peer: string): void {
    const networks = this.links.get(peer);
    for (const network of networks?.keys() ?? []) if (networks) this.drop(networks, network);
    this.links.delete(peer);
  }

  private drop(networks: Map<string, Link>, network: string): void {
    const pending = networks.get(network)?.pending;
    if (pending) this.byNonce.delete(pending.nonce);
    networks.delete(network);
  }
}
