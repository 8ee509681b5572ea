import { Bus, systemClock, WorkerRegistry, type AnnouncedWorker, type Closable } from '#bus';
import { connectPorts } from '#bus/nats/connect.js';
import { patient } from '#bus/testing/patient.js';
import { setTimeout as pause } from 'node:timers/promises';
import {
  checkDetection,
  drilledIdentity,
  silenceTimeout,
  Subjects,
  type Beacon,
  type Clock,
  type CurrentVerdictRequest,
  type NodeRecord,
  type DetectorCondition,
  type Report,
  type Verdict,
} from '#contracts';
import { answerIdentify, untold, type Identified } from './identify.js';
import { aDevice, aNode, anOwnProbe, aVerdict } from './records.js';

/** How often the agents report and the detector beacons, ms: faster than in life, so that specs do not wait. */
const PERIOD_MS = 100;

/** Detection of a fleet that is in a hurry. */
export const specDetection = checkDetection({
  profile: 'fast',
  interval: 100,
  misses: 6,
  suspectMisses: 3,
  reportPeriod: PERIOD_MS,
  freshness: 500,
  loopGap: 100,
});

/**
 * Everything around inventory, played by a spec over a real bus: agents that report, a detector that answers, workers
 * that are alive. A node that is `dead` reports nothing, and the detector says DOWN of it.
 */
export class FakeFleet {
  private readonly silent = new Set<string>();
  private readonly boots = new Map<string, number>();
  private readonly running = new Map<string, Map<string, number>>();
  /** Workload → whether a start gate stands before it, as of all others; undefined: an agent of before does not tell. */
  readonly gated = new Map<string, boolean | undefined>();
  private readonly verdicts = new Map<string, Verdict>();
  private readonly parts: Closable[] = [];
  private timer: NodeJS.Timeout | undefined;
  private seq = 0;
  epoch = 1;
  sighted = true;
  /** While it is not sighted: why. */
  blindBy: 'reports' | 'own' = 'own';
  /** What the detector sees beside its verdicts. */
  conditions: DetectorCondition[] = [];
  /** The detector is gone: no beacon. */
  detectorSilent = false;

  /** What its fencer says of whose the power devices of a node are. @default none of them tells */
  identify: (node: NodeRecord) => Promise<Identified[]> | Identified[] = untold;

  private constructor(
    readonly bus: Bus,
    readonly names: string[],
  ) {}

  static async open(url: string, names: string[], clock: Clock = systemClock): Promise<FakeFleet> {
    const bus = patient(new Bus({ ...(await connectPorts({ name: 'fleet', servers: [url] })), clock }));
    const fleet = new FakeFleet(bus, names);
    fleet.parts.push(
      bus.answer<CurrentVerdictRequest, Verdict>(Subjects.currentVerdict(), (q) => fleet.current(q.node)),
      answerIdentify(bus, (node) => fleet.identify(node)),
    );
    return fleet;
  }

  /** Once inventory has created the buckets: registers the nodes as Allocated and discovered, and begins to report. */
  async start(): Promise<void> {
    const announce = async (service: 'fencer' | 'provisioner', drivers: string[]): Promise<AnnouncedWorker> =>
      WorkerRegistry.announce(this.bus, { service, id: `${service}-1`, drivers, host: 'control' });
    this.parts.push(await announce('fencer', ['ipmitool']), await announce('provisioner', ['ansible']));
    for (const [n, name] of this.names.entries())
      await this.bus.bucket('nodes').create(
        name,
        aNode(name, {
          failureDomain: `rack-${n}`,
          powerLevels: [[{ ...aDevice(), port: 9001 + n }]],
          bootId: this.bootId(name),
          // Their own: whoever is not heard when one of them is powered off, was not powered off.
          powerIdentity: { bmc: drilledIdentity({}, aDevice(), 1) },
          networks: { management: { address: `10.0.0.${n + 1}` }, backend: { address: `10.0.1.${n + 1}` } },
        }),
      );
    this.begin();
  }

  /** The agents of nodes that are registered begin to report, and the detector to beacon. */
  begin(): void {
    this.tick();
    this.timer = setInterval(() => this.tick(), PERIOD_MS);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    for (const part of this.parts) await part.close();
    await this.bus.close();
  }

  bootId(node: string): string {
    return `boot-${node}-${this.boots.get(node) ?? 1}`;
  }

  run(node: string, workload: string, generation: number): void {
    const own = this.running.get(node) ?? new Map<string, number>();
    own.set(workload, generation);
    this.running.set(node, own);
    this.tick();
  }

  stop(node: string, workload: string): void {
    this.running.get(node)?.delete(workload);
    this.tick();
  }

  runs(node: string): string[] {
    return [...(this.running.get(node)?.keys() ?? [])];
  }

  /** Stops without a word; the detector's verdict follows when the silence has lasted. */
  async die(...nodes: string[]): Promise<void> {
    await this.fallSilent(nodes);
    for (const node of nodes) await this.say(node, { verdict: 'DOWN' });
  }

  /** Its reports come no more, and are old by now; the detector says nothing of that. */
  mute(node: string): Promise<void> {
    return this.fallSilent([node]);
  }

  /** All fall silent at one moment: each is suspect before the first of them is called dead. */
  async dieTogether(...nodes: string[]): Promise<void> {
    await this.fallSilent(nodes);
    for (const node of nodes) await this.say(node, { verdict: 'SUSPECT' });
    for (const node of nodes) await this.say(node, { verdict: 'DOWN' });
  }

  /** Its agent stops without a word; the host lives on, and its ssh answers. */
  async loseAgent(node: string): Promise<void> {
    await this.fallSilent([node]);
    const { evidence } = aVerdict(node);
    await this.say(node, { evidence: { ...evidence, ownProbe: anOwnProbe({ ssh: 'banner' }) } });
  }

  private async fallSilent(nodes: string[]): Promise<void> {
    for (const node of nodes) {
      this.silent.add(node);
      this.running.delete(node);
    }
    await pause(silenceTimeout(specDetection));
  }

  /** Another boot, nothing runs; the detector says UP. */
  async boot(node: string): Promise<void> {
    this.boots.set(node, (this.boots.get(node) ?? 1) + 1);
    this.silent.delete(node);
    this.running.delete(node);
    this.tick();
    await this.say(node, { verdict: 'UP' });
  }

  /** The node's agent reports again, in the same boot. */
  async revive(node: string): Promise<void> {
    this.silent.delete(node);
    this.tick();
    await this.say(node, { verdict: 'UP' });
  }

  /** A verdict of the detector, published and answered from now on. */
  async say(node: string, o: Partial<Verdict>): Promise<void> {
    const v = aVerdict(node, { bootId: this.bootId(node), epoch: this.epoch, seq: ++this.seq, ...o });
    this.verdicts.set(node, v);
    this.tick();
    await this.bus.publishVerdict(v);
  }

  private current(node: string): Verdict {
    const known = this.verdicts.get(node);
    const up = aVerdict(node, { verdict: 'UP', epoch: this.epoch, seq: this.seq, reason: 'heard' });
    return known ?? { ...up, evidence: { ...up.evidence, ownReportAgeMs: 50 } };
  }

  private tick(): void {
    this.seq += 1;
    const notUp: Beacon['notUp'] = {};
    for (const [node, v] of this.verdicts) if (v.verdict !== 'UP') notUp[node] = { verdict: v.verdict, seq: v.seq };
    const beacon: Beacon = {
      epoch: this.epoch,
      seq: this.seq,
      instance: 'detector-1',
      sighted: this.sighted,
      ...(!this.sighted && { blindBy: this.blindBy }),
      members: this.names.length,
      sightedReporters: this.names.length - this.silent.size,
      notUp,
      conditions: this.conditions,
    };
    if (!this.detectorSilent) this.bus.publish(Subjects.beacon(), beacon);
    for (const node of this.names) if (!this.silent.has(node)) this.report(node);
  }

  private report(node: string): void {
    const own = [...(this.running.get(node) ?? [])].map(([name, generation]) => {
      const gated = this.gated.has(name) ? this.gated.get(name) : true;
      return { name, generation, ...(gated !== undefined && { gated }) };
    });
    const report: Report = {
      v: 1,
      node,
      bootId: this.bootId(node),
      epoch: this.boots.get(node) ?? 1,
      seq: this.seq,
      listVersion: 1,
      networks: ['management'],
      peers: [],
      health: { abstain: false, sendErrors: {}, loopGapMs: 0 },
      workloads: own,
    };
    this.bus.publish(Subjects.report(node), report);
  }
}
