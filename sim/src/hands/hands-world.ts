import { FencingNumbers, type NodeRecord } from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import type { Dice } from '#contracts/testing/dice.js';
import type { PlayOptions, PlayResult, PlayWorld } from '../play.js';
import { CALM, PlayedFaults, type FaultRates } from '../nats/played-faults.js';
import { PlayedServer } from '../nats/played-server.js';
import { CrashPoints, nobodyCrashes, type CrashPlan } from '../process/crash-points.js';
import { PlayedProcesses } from '../process/played-processes.js';
import { ProgramFaults } from '../process/program-faults.js';
import { diceOf } from '../time/seeded-random.js';
import { NS_PER_MS, VirtualTime } from '../time/virtual-time.js';
import { Bmc } from './bmc.js';
import { Chassis } from './chassis.js';
import type { HandsEvent, HandsHistory } from './hands-history.js';
import { HandsOracle, presentBounds, type HandsBounds } from './hands-oracle.js';
import { deviceOf, HandsPrograms, provenByGuid } from './hands-programs.js';
import { drawnPlaybook } from './played-ansible.js';
import { PlayedInventory } from './played-inventory.js';

export interface HandsOptions extends PlayOptions {
  bounds?: Partial<HandsBounds>;
}

/** Of a network and a server while faults last. */
export const roughRates = (lostAnswers: number): FaultRates => ({
  latencyMs: [0.1, 2],
  unanswered: lostAnswers,
  lost: lostAnswers,
  twice: lostAnswers / 4,
  copyMs: [1, 3_000],
  lagging: 0.02,
  lagMs: [1, 300],
});

const HOUR_MS = 3_600_000;

/** One history of the hands: a played NATS, chassis and BMCs, an inventory that is played, and the product's own programs. */
export class HandsWorld implements PlayWorld {
  readonly time: VirtualTime;
  readonly oracle: HandsOracle;
  private readonly dice: Dice;
  private readonly server: PlayedServer;
  private readonly chassis = new Map<string, Chassis>();
  private readonly bmcs = new Map<string, Bmc>();
  private readonly processes: PlayedProcesses;
  private readonly noFork = new Set<string>();
  private readonly noDrivers = new Set<string>();
  private readonly points: CrashPoints;
  private readonly programs: HandsPrograms;
  private readonly faults: ProgramFaults;
  private readonly inventory: PlayedInventory;
  private readonly jobs: string[] = [];
  /** What waits for the first leave, or intent, of a node. */
  private readonly awaited = new Map<string, (() => void)[]>();

  constructor(
    private readonly history: HandsHistory,
    private readonly o: HandsOptions = {},
  ) {
    this.time = new VirtualTime();
    this.dice = diceOf(history.seed, 'world');
    const now = (): number => this.time.nowMs;
    this.oracle = new HandsOracle({
      now,
      chassis: this.chassis,
      bounds: { ...presentBounds, ...o.bounds },
      owesOn: (node) => this.bmcs.get(node)?.owesOn === true,
      intended: (node) => this.reached('intent', node),
    });
    this.points = new CrashPoints(this.planOf(history, o.plan ?? nobodyCrashes), o.reached);
    this.processes = new PlayedProcesses({
      time: this.time,
      dice: this.dice,
      seed: history.seed,
      points: this.points,
      wallSpreadMs: 2 * HOUR_MS,
      born: (name) => this.oracle.born(name),
      tell: (line) => this.trace(line),
      failed: (name, fault) => {
        if (fault === undefined) this.oracle.probe('a program could not start, or stop');
        else this.oracle.violate('failed', `${name}: ${fault.stack ?? fault.message}`);
      },
    });
    this.server = new PlayedServer(this.time, {
      version: history.server,
      faults: new PlayedFaults(diceOf(history.seed, 'faults')),
      stored: (stream, subject, payload, seq) => this.stored(stream, subject, String(payload), seq),
    });
    history.nodes.forEach((node) => {
      const chassis = new Chassis(node, now);
      this.chassis.set(node, chassis);
      this.oracle.lives(node, true);
      const switched = (on: boolean, sentMs: number, by: string): void => {
        this.trace(`the power of ${node} is ${on ? 'on' : 'off'} (${by})`);
        this.oracle.switched(node, on, sentMs, by);
        this.oracle.lives(node, on);
      };
      const bmc = new Bmc(chassis, this.time, this.dice, switched);
      bmc.tellsGuid = history.tellGuid.includes(node);
      this.bmcs.set(node, bmc);
    });
    const { told } = o;
    this.programs = new HandsPrograms({
      time: this.time,
      dice: this.dice,
      server: this.server,
      oracle: this.oracle,
      bmcs: this.bmcs,
      noFork: this.noFork,
      noDrivers: this.noDrivers,
      playbook: drawnPlaybook(this.time, this.dice),
      // A job's nodes are its own: `job-3-1` is of job-3.
      jobOf: ({ nodes }) => (nodes[0] ?? '').replace(/-\d+$/, ''),
      tell: (line) => this.trace(line),
      // No event of the history: it is the same whether or not somebody reads along.
      logged: told && ((line) => told(this.time.nowMs, line)),
    });
    this.faults = new ProgramFaults({
      time: this.time,
      server: this.server,
      processes: this.processes,
      connections: this.programs.connections,
      holderOf: (lease) => this.oracle.holderOf(lease),
      madeAnew: (bucket) => this.oracle.madeAnew(bucket),
    });
    this.inventory = new PlayedInventory({
      bus: this.programs.immortalBus('inventory'),
      nodes: this.records(),
      chassis: this.chassis,
      agreed: (node) => this.reached('leave', node),
    });
    const { processes, programs } = this;
    for (const name of history.fencers) processes.add(name, (life) => programs.fencer(life));
    for (const name of history.provisioners) processes.add(name, (life) => programs.provisioner(life));
    for (const name of history.contenders) processes.add(name, (life) => programs.contender(life));
  }

  async run(): Promise<PlayResult> {
    const { history, time } = this;
    await time.settle(this.inventory.open());
    this.server.faults.rates = roughRates(history.lostAnswers);
    this.processes.startAll();
    for (const event of history.events)
      time.schedule((event.at - time.nowMs) * NS_PER_MS, event.kind, () => this.happen(event));
    await time.advance(history.quietFrom - time.nowMs);
    this.calm();
    // What was given before may be carried out so much later.
    await time.advance(FencingNumbers.deviceLag);
    await time.until(() => this.oracle.isSettled, this.oracle.bounds.settledMs - FencingNumbers.deviceLag);
    this.oracle.judgeEnd();
    this.processes.removeAll();
    return {
      history: history.name,
      violations: this.oracle.violations,
      probes: this.oracle.probes,
      hash: time.hash,
      crashPoints: this.points.total,
      events: time.events,
      virtualMs: time.nowMs,
    };
  }

  failed(what: string): void {
    this.oracle.violate('failed', what);
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
    const dice = diceOf(history.seed, 'crashes');
    return (point) =>
      plan(point) ||
      (history.crashes > 0 &&
        this.time.nowMs > 3_000 &&
        this.time.nowMs < history.quietFrom &&
        dice.chance(history.crashes));
  }

  private happen(e: HandsEvent): void {
    this.trace(JSON.stringify(e));
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
      case 'stop':
      case 'pause':
      case 'wall-jump':
      case 'server-restart':
      case 'bucket-anew':
        this.faults.play(e);
        return;
      case 'cut':
        this.faults.cutOff(e.process, e);
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
        const name = this.faults.process(e.process)?.name ?? '';
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
      case 'after': {
        const what = `${e.what} ${e.node}`;
        const then = (): void => later(e.inMs, `after the ${e.what}`, () => this.happen(e.does));
        this.awaited.set(what, [...(this.awaited.get(what) ?? []), then]);
        return;
      }
      case 'no-conductor':
        this.inventory.conducts(false);
        later(e.forMs, 'a conductor is there', () => this.inventory.conducts(true));
        return;
      case 'fencing-pause': {
        // It ends by the clock, counted from the order and not from its acknowledgement.
        const endsMs = this.time.nowMs + e.forMs;
        void this.inventory.pause(e.forMs).then((until) => {
          if (this.time.nowMs < endsMs && this.inventory.isPausedUntil(until)) this.oracle.paused(endsMs);
          later(endsMs - this.time.nowMs, 'the pause is over', () => void this.inventory.resume(until));
        });
      }
    }
  }

  private reached(what: 'leave' | 'intent', node: string): void {
    const then = this.awaited.get(`${what} ${node}`);
    this.awaited.delete(`${what} ${node}`);
    for (const fn of then ?? []) fn();
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
    return this.history.nodes.map((name, i) => {
      const device = deviceOf(name, i);
      const guid = this.history.tellGuid.includes(name) ? this.chassis.get(name)?.guid : undefined;
      return aNode(name, {
        powerLevels: [[device]],
        hostGroup: 'service-worker',
        ...(guid !== undefined && { powerIdentity: { [device.id]: provenByGuid(device, guid) } }),
      });
    });
  }

  private trace(line: string): void {
    this.time.trace(line);
    this.o.told?.(this.time.nowMs, line);
  }
}
