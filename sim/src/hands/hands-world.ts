import { Bus, Lease, silentLog, type BusLog } from '#bus';
import { FencingNumbers, MusterError, type NodeRecord, type PowerDevice } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import { Dice } from '#contracts/testing/dice.js';
import { Fencer } from '../../../apps/fencer/src/fencer.js';
import { JobRunner } from '../../../apps/provisioner/src/jobs/job-runner.js';
import { buildConfig } from '#service';
import { BmcQueue } from '../../../apps/fencer/src/power/bmc-queue.js';
import { clientOf } from '../nats/played-client.js';
import type { PlayedConnection } from '../nats/played-connection.js';
import { CALM, PlayedFaults, type FaultRates } from '../nats/played-faults.js';
import { PlayedServer } from '../nats/played-server.js';
import { CrashPoints, nobodyCrashes, type CrashPlan, type CrashPoint } from '../process/crash-points.js';
import { Life } from '../process/life.js';
import { mortalLog, mortalWire } from '../process/mortal-ports.js';
import { SimProcess, type Program, type Running } from '../process/sim-process.js';
import { SeededRandom } from '../time/seeded-random.js';
import { VirtualClock } from '../time/virtual-clock.js';
import { NS_PER_MS, VirtualTime } from '../time/virtual-time.js';
import { Bmc } from './bmc.js';
import { Chassis } from './chassis.js';
import type { HandsEvent, HandsHistory } from './hands-history.js';
import { HandsOracle, presentBounds, type HandsBounds, type HandsViolation } from './hands-oracle.js';
import { PlayedAnsible } from './played-ansible.js';
import { PlayedInventory } from './played-inventory.js';
import { PlayedPower } from './played-power.js';

export interface HandsResult {
  history: string;
  violations: readonly HandsViolation[];
  probes: ReadonlyMap<string, number>;
  /** Of every event: the same history gives the same. */
  hash: string;
  /** Port calls at which a process could have died, each twice. */
  crashPoints: number;
  events: number;
}

export interface HandsOptions {
  plan?: CrashPlan;
  bounds?: Partial<HandsBounds>;
  /** Each thing that happens, for the story of one history. */
  told?: (ms: number, line: string) => void;
  reached?: (point: CrashPoint) => void;
}

/** Node names are `<label>-<serial>`; each has one BMC, at a place of its own. */
const deviceOf = (node: string, index: number): PowerDevice => ({
  id: `bmc-${node}`,
  driver: 'ipmitool',
  address: `192.0.2.${index + 1}`,
});

const ratesOf = ({ lostAnswers }: HandsHistory): FaultRates => ({
  latencyMs: [0.1, 2],
  unanswered: lostAnswers,
  lost: lostAnswers,
  twice: lostAnswers / 4,
  copyMs: [1, 3_000],
  lagging: 0.02,
  lagMs: [1, 300],
});

/** One history of the hands: a played NATS, chassis and BMCs, an inventory that is played, and the product's own programs. */
export class HandsWorld {
  readonly time: VirtualTime;
  readonly oracle: HandsOracle;
  private readonly dice: Dice;
  private readonly server: PlayedServer;
  private readonly chassis = new Map<string, Chassis>();
  private readonly bmcs = new Map<string, Bmc>();
  private readonly connections = new Map<string, PlayedConnection>();
  private readonly processes = new Map<string, SimProcess>();
  private readonly held = new Map<string, Lease>();
  private readonly noFork = new Set<string>();
  private readonly noDrivers = new Set<string>();
  private readonly points: CrashPoints;
  private readonly inventory: PlayedInventory;
  private readonly jobs: string[] = [];
  /** What waits for the first leave, or intent, of a node. */
  private readonly awaited = new Map<string, () => void>();

  constructor(
    private readonly history: HandsHistory,
    private readonly o: HandsOptions = {},
  ) {
    this.time = new VirtualTime();
    this.dice = new Dice(history.seed);
    const now = (): number => this.time.nowMs;
    this.oracle = new HandsOracle({
      now,
      chassis: this.chassis,
      bounds: { ...presentBounds, ...o.bounds },
      intended: (node) => this.reached('intent', node),
    });
    this.points = new CrashPoints(this.planOf(history, o.plan ?? nobodyCrashes), o.reached);
    this.server = new PlayedServer(this.time, {
      version: history.server,
      faults: new PlayedFaults(new Dice(history.seed + 2)),
      stored: (stream, subject, payload, seq) => this.stored(stream, subject, String(payload), seq),
    });
    history.nodes.forEach((node) => {
      const chassis = new Chassis(node, now);
      this.chassis.set(node, chassis);
      this.oracle.lives(node, true);
      const switched = (on: boolean, sentMs: number, by: string): void => {
        this.tell(`the power of ${node} is ${on ? 'on' : 'off'} (${by})`);
        this.oracle.switched(node, on, sentMs, by);
        this.oracle.lives(node, on);
      };
      this.bmcs.set(node, new Bmc(chassis, this.time, this.dice, switched));
    });
    this.inventory = new PlayedInventory({
      bus: this.immortalBus('inventory'),
      nodes: this.records(),
      chassis: this.chassis,
      agreed: (node) => this.reached('leave', node),
    });
    for (const name of history.fencers) this.add(name, (life) => this.fencer(life));
    for (const name of history.provisioners) this.add(name, (life) => this.provisioner(life));
    for (const name of history.contenders) this.add(name, (life) => this.contender(life));
  }

  async run(): Promise<HandsResult> {
    const { history, time } = this;
    await time.settle(this.inventory.open());
    this.server.faults.rates = ratesOf(history);
    for (const process of this.processes.values()) process.start();
    for (const event of history.events)
      time.schedule((event.at - time.nowMs) * NS_PER_MS, event.kind, () => this.happen(event));
    await time.advance(history.quietFrom - time.nowMs);
    this.calm();
    // What was given before may be carried out so much later.
    await time.advance(FencingNumbers.deviceLag);
    await time.until(() => this.oracle.isSettled, this.oracle.bounds.settledMs - FencingNumbers.deviceLag);
    this.oracle.judgeEnd();
    for (const process of this.processes.values()) process.remove();
    return {
      history: history.name,
      violations: this.oracle.violations,
      probes: this.oracle.probes,
      hash: time.hash,
      crashPoints: this.points.total,
      events: time.events,
    };
  }

  /** From here on nothing goes wrong any more. */
  private calm(): void {
    this.server.faults.rates = CALM;
    for (const bmc of this.bmcs.values()) {
      bmc.mood = 'well';
      bmc.takesMs = undefined;
      bmc.opensMs = undefined;
    }
  }

  /** A plan of the caller's, or the history's own chance, while faults last. */
  private planOf(history: HandsHistory, plan: CrashPlan): CrashPlan {
    const dice = new Dice(history.seed + 1);
    return (point) =>
      plan(point) ||
      (history.crashes > 0 &&
        this.time.nowMs > 3_000 &&
        this.time.nowMs < history.quietFrom &&
        dice.chance(history.crashes));
  }

  private add(name: string, program: Program): void {
    const process: SimProcess = new SimProcess(this.time, {
      name,
      born: () => this.bornLife(name, process.lives),
      program,
      restartMs: () => 500 + this.dice.roll() * 1_500,
      failed: (e) => {
        this.tell(`${name} could not start, or stop: ${e instanceof Error ? e.message : String(e)}`);
        if (MusterError.from(e).code === 'INTERNAL')
          this.oracle.violate('failed', `${name}: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}`);
        else this.oracle.probe('a program could not start, or stop');
      },
    });
    this.processes.set(name, process);
  }

  private bornLife(name: string, incarnation: number): Life {
    const clock = new VirtualClock(this.time, { name: `${name}.${incarnation}`, hostUptimeMs: 1_000_000 });
    const life = new Life(name, clock, this.points);
    this.oracle.born(name);
    life.onEnd(() => this.tell(`${name} ended`));
    return life;
  }

  private busOf(life: Life): Bus {
    const random = new SeededRandom(this.dice.below(2 ** 31));
    const client = clientOf(this.server, life.process, life.clock, random);
    this.connections.set(life.process, client.connection);
    life.onEnd(() => client.connection.vanish());
    return new Bus({
      name: life.process,
      wire: mortalWire(life, client.wire),
      messages: mortalLog(life, client.messages),
      clock: life.clock,
      random,
      log: this.logOf(life.process),
    });
  }

  private immortalBus(name: string): Bus {
    const clock = new VirtualClock(this.time, { name });
    const random = new SeededRandom(this.dice.below(2 ** 31));
    const client = clientOf(this.server, name, clock, random);
    return new Bus({ name, wire: client.wire, messages: client.messages, clock, random, log: silentLog });
  }

  private logOf(process: string): BusLog {
    if (this.o.told === undefined) return silentLog;
    const line = (facts: object, message: string): void =>
      this.tell(
        `${process}: ${message} ${JSON.stringify(facts, (_k, v: unknown) => (v instanceof Error ? v.message : v))}`,
      );
    return { debug: () => undefined, info: line, warn: line, error: line };
  }

  private async fencer(life: Life): Promise<Running> {
    const bus = this.busOf(life);
    const names = (): string[] => (this.noDrivers.has(life.process) ? [] : ['ipmitool']);
    const power = new PlayedPower({
      time: this.time,
      life,
      dice: this.dice,
      bmcOf: (device) => this.bmcAt(device),
      cannotFork: () => this.noFork.has(life.process),
      sent: (c) => {
        if (c.verb !== 'status') this.tell(`${c.fencer} sends ${c.verb} to ${c.device.id}`);
        this.oracle.commandSent(this.nodeOf(c.device), c);
      },
      read: (device, outcome) => this.oracle.readEnded(this.nodeOf(device), life.process, outcome),
    });
    const fencer = new Fencer({
      bus,
      instance: life.process,
      log: bus.log,
      power,
      queue: new BmcQueue(),
      drivers: { names, test: () => Promise.resolve(names()) },
      ownHost: () => ({ name: `host-of-${life.process}`, addresses: [] }),
      displaced: () => life.end(),
    });
    await fencer.start();
    return { stop: () => fencer.stop() };
  }

  private async provisioner(life: Life): Promise<Running> {
    const bus = this.busOf(life);
    const runner = new JobRunner({
      bus,
      config: buildConfig({ instance: life.process, dataDir: 'played' }, undefined, 'sim'),
      log: bus.log,
      host: `host-of-${life.process}`,
      ansible: new PlayedAnsible({
        time: this.time,
        life,
        dice: this.dice,
        isBroken: () => this.noFork.has(life.process),
        begins: (nodes, step) => {
          this.tell(`${life.process} runs ${step} on ${nodes.join(' ')}`);
          // A job's nodes are its own: `job-3-1` is of job-3.
          return this.oracle.runBegins((nodes[0] ?? '').replace(/-\d+$/, ''), life.process, step);
        },
      }),
      displaced: () => life.end(),
    });
    await runner.start();
    return { stop: () => runner.stop() };
  }

  private async contender(life: Life): Promise<Running> {
    const lease = new Lease(this.busOf(life), { name: 'conductor', holder: life.process });
    lease.on((event, token) => {
      if (event !== 'acquired' || life.over) return;
      const others = [...this.held].filter(([name, other]) => name !== life.process && other.held);
      this.oracle.leaseAcquired(
        'conductor',
        life.process,
        token,
        others.map(([name]) => name),
      );
    });
    lease.start();
    this.held.set(life.process, lease);
    life.onEnd(() => this.held.delete(life.process));
    return Promise.resolve({ stop: () => lease.stop() });
  }

  private happen(e: HandsEvent): void {
    this.tell(JSON.stringify(e));
    const later = (ms: number, label: string, fn: () => void): void =>
      void this.time.schedule(ms * NS_PER_MS, label, fn);
    switch (e.kind) {
      case 'death':
        this.chassis.get(e.node)?.hang();
        this.oracle.lives(e.node, false);
        return;
      case 'reboot':
        this.chassis.get(e.node)?.reboot();
        if (this.chassis.get(e.node)?.lives === true) this.oracle.lives(e.node, true);
        return;
      case 'unplugged':
        this.byHand(e.node, false);
        later(e.forMs, `${e.node} is plugged in`, () => this.byHand(e.node, true));
        return;
      case 'crash':
        this.process(e.process)?.crash();
        return;
      case 'stop':
        void this.process(e.process)?.restart();
        return;
      case 'pause': {
        const process = this.process(e.process);
        process?.pause();
        later(e.forMs, `${e.process} goes on`, () => process?.resume());
        return;
      }
      case 'cut':
        this.connections.get(this.process(e.process)?.name ?? '')?.break({ forMs: e.forMs, silentMs: e.silentMs });
        return;
      case 'server-restart':
        this.server.restart({ downMs: e.forMs, ...(e.lost && { lost: e.lost }) });
        return;
      case 'bucket-anew':
        this.server.recreateStream(`KV_${e.bucket}`);
        this.oracle.madeAnew(e.bucket);
        return;
      case 'bmc': {
        const bmc = this.bmcs.get(e.node) as Bmc;
        bmc.mood = e.mood;
        bmc.takesMs = e.takesMs;
        bmc.opensMs = e.sessionMs;
        return;
      }
      case 'no-fork':
      case 'no-drivers': {
        const lacking = e.kind === 'no-fork' ? this.noFork : this.noDrivers;
        const name = this.process(e.process)?.name ?? '';
        lacking.add(name);
        later(e.forMs, `${name} can again`, () => lacking.delete(name));
        return;
      }
      case 'job':
        void this.inventory.order(e.job, e.nodes, e.timeoutMs).then((id) => this.jobs.push(id));
        return;
      case 'cancel': {
        const id = this.jobs[e.nth];
        if (id !== undefined) void this.inventory.cancel(id);
        return;
      }
      case 'order-on':
        void this.inventory.orderOn(e.node);
        return;
      case 'order-off':
        void this.inventory.orderOff(e.node);
        return;
      case 'after':
        this.awaited.set(`${e.what} ${e.node}`, () => later(e.inMs, `after the ${e.what}`, () => this.happen(e.does)));
        return;
      case 'no-conductor':
        this.inventory.conducts(false);
        later(e.forMs, 'a conductor is there', () => this.inventory.conducts(true));
        return;
      case 'fencing-pause': {
        // It ends by the clock, counted from the order and not from its acknowledgement.
        const endsMs = this.time.nowMs + e.forMs;
        void this.inventory.pause(e.forMs).then(() => {
          if (this.time.nowMs >= endsMs) return;
          this.oracle.paused(endsMs);
          later(endsMs - this.time.nowMs, 'the pause is over', () => void this.inventory.resume());
        });
      }
    }
  }

  private process(name: string): SimProcess | undefined {
    return this.processes.get(name === 'the leader' ? this.oracle.holderOf('fencer') : name);
  }

  private reached(what: 'leave' | 'intent', node: string): void {
    const then = this.awaited.get(`${what} ${node}`);
    this.awaited.delete(`${what} ${node}`);
    then?.();
  }

  private byHand(node: string, on: boolean): void {
    this.chassis.get(node)?.switch(on, 'by hand');
    this.oracle.lives(node, on);
  }

  private stored(stream: string, subject: string, text: string, seq: number): void {
    if (!stream.startsWith('KV_')) return;
    const bucket = stream.slice('KV_'.length);
    this.oracle.stored(bucket, subject.slice(`$KV.${bucket}.`.length), text, seq);
  }

  private records(): NodeRecord[] {
    return this.history.nodes.map((name, i) =>
      aNode(name, { powerLevels: [[deviceOf(name, i)]], hostGroup: 'service-worker' }),
    );
  }

  private nodeOf(device: PowerDevice): string {
    return device.id.slice('bmc-'.length);
  }

  private bmcAt(device: PowerDevice): Bmc {
    return this.bmcs.get(this.nodeOf(device)) as Bmc;
  }

  private tell(line: string): void {
    this.time.trace(line);
    this.o.told?.(this.time.nowMs, line);
  }
}
