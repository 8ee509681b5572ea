import type { Bus, Entry, KvView } from '#bus';
import {
  BEACON_PERIOD_MS,
  DetectionProfiles,
  parseReport,
  silenceTimeout,
  Subjects,
  type Beacon,
  type CurrentVerdictRequest,
  type NodeRecord,
  type Verdict,
  type VerdictKind,
} from '#contracts';
import { Attention } from '../../../apps/detector/src/verdicts/attention.js';
import { lacksQuorum } from '../../../apps/detector/src/verdicts/quorum.js';
import { isMember, isOnAgain } from '#domain/node/membership.js';
import { isHeardVerdict } from '#domain/verdict/heard.js';
import type { Dice } from '#contracts/testing/dice.js';
import type { PlayedHost } from './played-host.js';

const LAN = DetectionProfiles.lan;
/** Between two looks at everyone, ms. */
const LOOK_MS = 250;

/** What it thinks of one node. */
interface Judged {
  verdict: VerdictKind;
  seq: number;
  at: number;
  /** The boot that its own reports named then: another one is news, whatever the verdict. */
  bootId: string | undefined;
  /** It counted as powered off, and spoke in another boot: that is news, too. */
  poweredOn: boolean;
}

/** Of one silence, or of one time of being heard: how late it is noticed, ms. */
interface Episode {
  speaks: boolean;
  sinceMs: number;
  lateMs: number;
}

export interface PlayedMonitorParts {
  bus: Bus;
  dice: Dice;
  hosts: ReadonlyMap<string, PlayedHost>;
  tell: (line: string) => void;
  /** A verdict has changed. */
  called: (node: string, verdict: VerdictKind) => void;
}

/**
 * The uptime monitor, whose verdicts are made from the world's truth: late, by chance, and without a quorum where reports do not
 * come. It never dies; it can be away, and then begins anew with the next epoch.
 */
export class PlayedMonitor {
  private readonly judged = new Map<string, Judged>();
  /** Node → the last verdict by which it was dead. */
  private readonly toldDead = new Map<string, Verdict>();
  private readonly episodes = new Map<string, Episode>();
  private readonly heardAt = new Map<string, number>();
  /** Node → the boot that its own reports last named. */
  private readonly boots = new Map<string, string>();
  private nodes: KvView<NodeRecord> | undefined;
  private counted: { of: readonly Entry<NodeRecord>[]; names: readonly string[] } | undefined;
  private epoch = 1;
  private seq = 0;
  private away = 0;
  private withoutQuorum = true;
  /** The product's own: when it may judge, since when it sees enough, and why it does not. */
  private attention: Attention;
  /** Node → until when it is suspected for nothing, or is not heard on its backend. */
  private readonly wrong = new Map<string, { verdict: 'SUSPECT' | 'DEGRADED'; untilMs: number }>();

  constructor(private readonly p: PlayedMonitorParts) {
    this.attention = new Attention(this.now);
  }

  async open(): Promise<void> {
    const { bus } = this.p;
    this.nodes = await bus.bucket<NodeRecord>('nodes').view();
    this.begin();
    bus.subscribe(Subjects.report('*'), (text) => {
      const report = parseReport(text);
      if (report === undefined) return;
      this.heardAt.set(report.node, bus.clock.monotonicMs());
      this.boots.set(report.node, report.bootId);
    });
    bus.answer<CurrentVerdictRequest, Verdict>(Subjects.currentVerdict(), ({ node }) => {
      if (this.away > 0) return new Promise<Verdict>(() => undefined);
      this.judge(node);
      const verdict = this.verdictOf(node);
      return this.isQuiet ? { ...verdict, verdict: 'UNKNOWN', networks: [] } : verdict;
    });
    // As the product's: while the bus was away nobody was heard, and what it thought then counts for nothing.
    bus.onStatus((status) => {
      if (status !== 'connected') return;
      this.attention.listenAnew(this.now);
      this.attention.beQuiet(this.now, LAN);
    });
    bus.clock.every(LOOK_MS, () => {
      if (this.away > 0) return;
      this.seeWhetherItSees();
      for (const name of this.p.hosts.keys()) this.judge(name);
    });
    bus.clock.every(BEACON_PERIOD_MS, () => {
      if (this.away === 0 && !this.isQuiet) bus.publish(Subjects.beacon(), this.beacon());
    });
  }

  /** No beacon and no answer for so long, ms; whoever comes then has heard nobody yet. */
  leave(forMs: number): void {
    this.away++;
    this.p.bus.clock.after(forMs, () => {
      this.away--;
      this.epoch++;
      this.begin();
      this.heardAt.clear();
      this.boots.clear();
      this.judged.clear();
    });
  }

  /** For so long, ms, it suspects a node for nothing, or hears it on one network alone. */
  errs(node: string, verdict: 'SUSPECT' | 'DEGRADED', forMs: number): void {
    this.wrong.set(node, { verdict, untilMs: this.now + forMs });
  }

  /** The last verdict by which a node was dead comes once more, as whatever stores and repeats messages may send it. */
  repeatVerdict(node: string): void {
    const told = this.toldDead.get(node);
    if (told !== undefined) this.publish(told);
  }

  /** It has just begun to listen: it judges nobody before everyone has had the time to speak. */
  private begin(): void {
    this.withoutQuorum = true;
    this.attention = new Attention(this.now);
    this.attention.beQuiet(this.now, LAN);
  }

  private get now(): number {
    return this.p.bus.clock.monotonicMs();
  }

  /** Looked up again only where a record has changed: it is asked for at each look at each machine. */
  private get members(): readonly string[] {
    const of = this.nodes?.entries();
    if (of === undefined) return [];
    if (this.counted?.of !== of) this.counted = { of, names: of.filter((e) => isMember(e.value)).map((e) => e.key) };
    return this.counted.names;
  }

  private get reporters(): string[] {
    return this.members.filter((name) => this.isReported(name));
  }

  private get isQuiet(): boolean {
    return this.attention.isQuiet(this.now);
  }

  get isSighted(): boolean {
    return !this.withoutQuorum;
  }

  /** What it last said of a node. */
  lastOf(node: string): VerdictKind {
    return this.judged.get(node)?.verdict ?? 'UNKNOWN';
  }

  private seeWhetherItSees(): void {
    this.withoutQuorum = lacksQuorum(this.reporters.length, this.members.length);
    this.attention.sees(this.withoutQuorum, this.now, () => ({
      seq: this.seq,
      silent: this.members.filter((name) => !this.isReported(name)),
    }));
  }

  private judge(name: string): void {
    const verdict = this.thinks(name);
    const was = this.judged.get(name);
    if (verdict === undefined) return;
    const bootId = this.boots.get(name);
    const poweredOn = this.isOnAgain(name);
    if (was?.verdict === verdict && was.bootId === bootId && was.poweredOn === poweredOn) return;
    this.judged.set(name, { verdict, seq: ++this.seq, at: this.p.bus.clock.wallMs(), bootId, poweredOn });
    this.p.tell(`the monitor calls ${name} ${verdict}`);
    this.p.called(name, verdict);
    const told = this.verdictOf(name);
    if (verdict === 'DOWN') this.toldDead.set(name, told);
    this.publish(told);
  }

  private publish(told: Verdict): void {
    this.p.bus.publishVerdict(told).catch((e: unknown) => {
      // Who misses it is told by the next beacon, and asks.
      this.p.bus.log.warn({ err: e, node: told.node }, 'a verdict was not stored');
    });
  }

  private isReported(name: string): boolean {
    return this.now - (this.heardAt.get(name) ?? -Infinity) <= LAN.freshness;
  }

  private isOnAgain(name: string): boolean {
    const record = this.nodes?.get(name)?.value;
    return record !== undefined && this.isReported(name) && isOnAgain(record, this.boots.get(name));
  }

  /** Undefined: what it thought stands. */
  private thinks(name: string): VerdictKind | undefined {
    const host = this.p.hosts.get(name);
    if (host === undefined) return undefined;
    const episode = this.episodeOf(host);
    if (this.isQuiet) return undefined;
    if (this.withoutQuorum) return 'UNKNOWN';
    const forMs = this.now - episode.sinceMs;
    const wrong = this.wrong.get(name);
    const isWrong = wrong !== undefined && this.now < wrong.untilMs;
    const isReported = this.isReported(name);
    if (episode.speaks) {
      if (isWrong) return wrong.verdict;
      return isReported && forMs >= episode.lateMs ? 'UP' : undefined;
    }
    const others = this.reporters.filter((n) => n !== name).length;
    const isMajority = others >= Math.floor(this.members.length / 2) + 1;
    // While it saw too few, nobody's reports were missed.
    const isMissed = !isReported && this.now - this.attention.listeningSince >= LAN.freshness;
    if (forMs >= silenceTimeout(LAN) + episode.lateMs && isMissed && isMajority) return 'DOWN';
    return forMs >= LAN.suspectMisses * LAN.interval ? 'SUSPECT' : undefined;
  }

  private episodeOf(host: PlayedHost): Episode {
    const known = this.episodes.get(host.name);
    if (known !== undefined && known.speaks === host.speaks) return known;
    const episode = { speaks: host.speaks, sinceMs: this.now, lateMs: this.p.dice.roll() * 1_000 };
    this.episodes.set(host.name, episode);
    return episode;
  }

  private verdictOf(name: string): Verdict {
    const host = this.p.hosts.get(name);
    const { verdict, seq, at, bootId, poweredOn } = this.judged.get(name) ?? {
      verdict: 'UNKNOWN',
      seq: this.seq,
      at: this.p.bus.clock.wallMs(),
      bootId: this.boots.get(name),
      poweredOn: false,
    };
    const others = this.reporters.filter((n) => n !== name).length;
    const heardAt = this.heardAt.get(name);
    const isAlive = isHeardVerdict(verdict);
    return {
      node: name,
      verdict,
      networks: verdict === 'DEGRADED' ? ['backend'] : [],
      epoch: this.epoch,
      seq,
      at,
      ...(bootId !== undefined && { bootId }),
      ...(poweredOn && { poweredOn }),
      reason: `played: ${verdict}`,
      evidence: {
        observers: [],
        assigned: this.members.length - 1,
        accusers: isAlive ? 0 : others,
        members: this.members.length,
        sightedReporters: others,
        sighted: this.isSighted,
        ...(heardAt !== undefined && { ownReportAgeMs: this.now - heardAt }),
        ...(!isAlive && {
          ownProbe: {
            echo: [],
            ssh: 'silent',
            icmp: host?.isHung === true ? 'reply' : 'silent',
            port: 'silent',
            agentPort: 'silent',
            by: 'detector-1',
            spoke: ['ssh', 'icmp'],
            ageMs: 10,
          },
        }),
      },
    };
  }

  private beacon(): Beacon {
    const notUp: Beacon['notUp'] = {};
    for (const [name, { verdict, seq }] of this.judged) if (verdict !== 'UP') notUp[name] = { verdict, seq };
    const blindnessEnded = this.attention.blindnessEnded(this.now);
    return {
      epoch: this.epoch,
      seq: this.seq,
      instance: 'detector-1',
      sighted: this.isSighted,
      ...(!this.isSighted && { blindBy: this.attention.noQuorumBy }),
      ...(blindnessEnded !== undefined && { blindnessEnded }),
      members: this.members.length,
      sightedReporters: this.reporters.length,
      notUp,
      conditions: [],
    };
  }
}
