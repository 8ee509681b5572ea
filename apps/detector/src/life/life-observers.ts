import {
  agentObserver,
  LIFE_WITHIN_MS,
  lifePlace,
  linkClass,
  MusterError,
  readLifeAnswer,
  Subjects,
  type Clock,
  type LifeSigns,
  type LifeChannel,
  type LifeObservation,
  type LifeQuestion,
  type LifeSeen,
  type Random,
} from '#contracts';
import type { FleetView, WatchedTarget } from '../fleet/fleet-view.js';
import type { Heard, ReportBook } from '../observers/report-book.js';
import { isHealthyReporter, isMuteTo } from '../observers/stance.js';
import { AskedObservations } from './asked-observations.js';
import { chooseObservers } from './choose-observers.js';
import { foldObservations, type ObservedPlace } from './fold-observations.js';
import { channelsIn, LifeBaseline, type LivingNode } from './life-baseline.js';
import { livingNode } from './living-node.js';

/** ms beyond the time that an agent has, for the way there and back. */
const WAY_MS = 800;
/** ms between two rounds in which living hosts somebody is to be asked about. */
const LIVING_PERIOD = 5_000;
/** Observers that are enough where the monitor itself sees nothing of a host. */
const ENOUGH = 2;

export interface LifeObserversParts {
  clock: Clock;
  random: Random;
  fleet: FleetView;
  reports: Pick<ReportBook, 'of'>;
  /** Asks one agent; rejects without an answer in time. */
  send: (subject: string, q: LifeQuestion, o: { timeoutMs: number }) => Promise<unknown>;
  /** Puts on record by which channels a node has shown an observer that it lives. */
  keep: (node: string, observer: string, seen: Omit<LifeSeen, 'at'>) => Promise<void>;
  /** Something was learnt of this node. */
  changed: (node: string) => void;
  log: { debug(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** An observer and the host that it is asked about, as one key: no name holds a space. */
const pairOf = (observer: string, node: string): string => `${observer} ${node}`;
const namesOf = (pair: string): [observer: string, node: string] => pair.split(' ') as [string, string];

/**
 * Nodes that look for life beside the monitor: while a host lives, so that its silence says something later, and when it
 * is silent.
 */
export class LifeObservers {
  private readonly asked: AskedObservations;
  private readonly living: LifeBaseline;
  private livingAt = -Infinity;

  constructor(private readonly p: LifeObserversParts) {
    const { clock, changed, random } = p;
    this.asked = new AskedObservations({
      clock,
      observersOf: (node) => this.observersOf(node, clock.monotonicMs()),
      ask: (observer, node) => this.ask(observer, node),
      spoke: (observer, node) => this.spoke(observer, node),
      changed,
    });
    this.living = new LifeBaseline({
      clock,
      ask: async (pair) => {
        const found = await this.ask(...namesOf(pair));
        return found && isTried(found.signs) ? channelsIn(found.signs) : undefined;
      },
      random: () => random.number(),
      keep: (pair, seen) => {
        const [observer, node] = namesOf(pair);
        return p.keep(node, agentObserver(observer), seen);
      },
      failed: (pair, err) => {
        const [observer, node] = namesOf(pair);
        p.log.warn({ node, observer, err }, 'how a host shows a node that it lives could not be put on record');
      },
    });
  }

  stop(): void {
    this.living.stop();
    this.asked.watch([]);
  }

  /** Exactly these are silent, or asked about. */
  watch(targets: readonly { node: string }[]): void {
    this.asked.watch(targets);
  }

  /** Asks whom it is time to ask. @param leads only one detector keeps an eye on the living */
  step(leads: boolean): void {
    this.asked.step();
    const now = this.p.clock.monotonicMs();
    if (!leads || now - this.livingAt < LIVING_PERIOD) return;
    this.livingAt = now;
    this.living.step(this.pairs(now));
  }

  /** What they find of a host that is silent. */
  observations(node: string, now: number): LifeObservation[] {
    return this.asked.observations(node, now);
  }

  /** So many have seen it live that its silence will say something, whatever the monitor sees. */
  areEnough(node: string): boolean {
    const target = this.p.fleet.targets.get(node);
    if (!target) return false;
    const telling = this.p.fleet.observersOf(node).filter((o) => this.spokeTo(o, target).length > 0);
    return telling.length >= ENOUGH;
  }

  private pairs(now: number): Map<string, LivingNode> {
    const { fleet, reports } = this.p;
    const pairs = new Map<string, LivingNode>();
    for (const [name, target] of fleet.targets) {
      for (const observer of this.observersOf(name, now)) {
        const living = livingNode(fleet, target, reports.of(name), agentObserver(observer), now);
        pairs.set(pairOf(observer, name), { ...living, place: placeOf(fleet, target) });
      }
    }
    return pairs;
  }

  private observersOf(node: string, now: number): string[] {
    const { fleet } = this.p;
    const target = fleet.targets.get(node);
    if (!target) return [];
    const candidates = fleet.observersOf(node).map((name) => ({
      name,
      domain: fleet.targets.get(name)?.record.failureDomain ?? '',
      networks: Object.values(this.placesOf(name, target, now)).filter((place) => place.hearsOthers).length,
      telling: this.spokeTo(name, target).length > 0,
    }));
    return chooseObservers({ name: node, domain: target.record.failureDomain }, candidates);
  }

  private spoke(observer: string, node: string): readonly LifeChannel[] {
    const target = this.p.fleet.targets.get(node);
    return target ? this.spokeTo(observer, target) : [];
  }

  /** As this process knows it, else as it stands on record. */
  private spokeTo(observer: string, target: WatchedTarget): readonly LifeChannel[] {
    const { name, lifeSeen } = target.record;
    const known = this.living.spoke(pairOf(observer, name));
    if (known.length > 0) return known;
    const stored = lifeSeen?.[agentObserver(observer)];
    return stored?.place === placeOf(this.p.fleet, target) ? stored.channels : [];
  }

  /** Where its look counts, as of its last report. */
  private placesOf(observer: string, target: WatchedTarget, now: number): Record<string, ObservedPlace> {
    const heard = this.p.reports.of(observer);
    const { detection } = this.p.fleet.settings;
    const isHealthy = isHealthyReporter(heard, now, detection);
    const { name, networks } = target.record;
    const places: Record<string, ObservedPlace> = {};
    heard?.report.networks.forEach((network, i) => {
      const address = networks[network]?.address;
      if (address === undefined) return;
      const isMute = isMuteTo(heard.report, name, network);
      places[network] = { address, hearsOthers: isHealthy && !isMute && this.hearsOthers(heard, name, i) };
    });
    return places;
  }

  private hearsOthers({ links }: Heard, target: string, network: number): boolean {
    const { detection } = this.p.fleet.settings;
    for (const [peer, each] of links) {
      const link = each[network];
      if (peer !== target && link && linkClass(link[0], link[1], detection) === 'heard') return true;
    }
    return false;
  }

  private async ask(observer: string, node: string): Promise<{ signs: LifeSigns; ageMs: number } | undefined> {
    const { clock, fleet, log, random, send } = this.p;
    const target = fleet.targets.get(node);
    const ssh = target && fleet.probeTarget(target).ssh;
    if (!ssh) return undefined;
    const q: LifeQuestion = { nonce: random.hex(16), target: node, sshPort: ssh.port, withinMs: LIFE_WITHIN_MS };
    let said: unknown;
    try {
      said = await send(Subjects.life(observer), q, { timeoutMs: LIFE_WITHIN_MS + WAY_MS });
    } catch (e) {
      log.debug({ observer, node, code: MusterError.from(e).code }, 'a question for life was not answered');
      return undefined;
    }
    const answer = readLifeAnswer(said, observer, q);
    const asked = fleet.targets.get(node);
    if (answer === undefined || answer.unable !== undefined || !asked) {
      log.debug({ observer, node, unable: answer?.unable ?? 'cannot be read' }, 'an agent could not look for life');
      return undefined;
    }
    // As of now: one that was cut off meanwhile has proven nothing.
    const places = this.placesOf(observer, asked, clock.monotonicMs());
    return { signs: foldObservations(answer.networks, places), ageMs: answer.ageMs };
  }
}

const isTried = ({ ssh, icmp, port }: LifeSigns): boolean => [ssh, icmp, port].some((sign) => sign !== 'not-tried');

/** All its addresses: an agent looks over each network that both have. */
const placeOf = (fleet: FleetView, { record }: WatchedTarget): string => {
  const addresses = Object.keys(record.networks)
    .sort()
    .map((n) => record.networks[n]?.address ?? '');
  return lifePlace(addresses.join(' '), fleet.sshPortOf(record));
};
