import {
  brakeLimit,
  defaultFencing,
  drilledIdentity,
  FencingNumbers,
  type NodeRecord,
  type PowerIdentity,
  type PlanItem,
  type VerdictKind,
  type WorkloadRecord,
} from '#contracts';
import { aNode } from '#contracts/testing/a-node.js';
import type { Dice } from '#contracts/testing/dice.js';
import type { Bus } from '#bus';
import { Bmc } from '../hands/bmc.js';
import { Chassis } from '../hands/chassis.js';
import { deviceOf, HandsPrograms, placeOf, provenByGuid } from '../hands/hands-programs.js';
import { presentBounds } from '../hands/hands-oracle.js';
import { CALM, PlayedFaults } from '../nats/played-faults.js';
import { PlayedServer, type Sender } from '../nats/played-server.js';
import { CrashPoints, nobodyCrashes, type CrashPlan, type CrashPoint } from '../process/crash-points.js';
import type { Life } from '../process/life.js';
import { PlayedProcesses } from '../process/played-processes.js';
import { ProgramFaults } from '../process/program-faults.js';
import type { Program, Running } from '../process/sim-process.js';
import { diceOf } from '../time/seeded-random.js';
import { NS_PER_MS, VirtualTime } from '../time/virtual-time.js';
import type { Task } from '../../../apps/inventory/src/conductor/task.js';
import { roughRates } from '../hands/hands-world.js';
import type { FleetEvent, FleetHistory } from './fleet-event.js';
import { BEGUN_MS } from './fleet-history.js';
import { FleetOracle } from './fleet-oracle.js';
import { CHECKSUM, hostPlaybooks, jobOf } from './host-playbooks.js';
import { startInventory } from './inventory-program.js';
import { Operator } from './operator.js';
import { PlayedHost } from './played-host.js';
import { PlayedMonitor } from './played-monitor.js';
import type { PlayOptions, PlayResult, PlayWorld } from '../play.js';

/** What the last word of a machine may be late: a report period, and half a second for the answer. */
const HEARD_MS = 1_500;
/** With faults over, all is done that can be within this, ms. */
const SETTLED_MS = 60_000;
/** What the plan acts on is seen to begin by then, or asked for again. */
const ACTS_WITHIN_MS = 500;
/** The conductor may be another one just then: it is asked so often, ms apart. */
const PLAN_TRIES = { most: 20, everyMs: 1_000 };

/** Control hosts keep time by NTP, ms. */
const WALL_SPREAD_MS = 200;

export interface FleetOptions extends PlayOptions {
  /** What conductors run in the place of each of their tasks. @default the task */
  run?: (task: Task) => Task;
}

/** One history of the whole plane: machines with their systems, a monitor, operators, and the product's own programs. */
export class FleetWorld implements PlayWorld {
  readonly time: VirtualTime;
  readonly oracle: FleetOracle;
  private readonly dice: Dice;
  private readonly server: PlayedServer;
  private readonly chassis = new Map<string, Chassis>();
  private readonly bmcs = new Map<string, Bmc>();
  private readonly hosts = new Map<string, PlayedHost>();
  private readonly points: CrashPoints;
  private readonly processes: PlayedProcesses;
  private readonly programs: HandsPrograms;
  private readonly faults: ProgramFaults;
  private readonly monitor: PlayedMonitor;
  private readonly operator: Operator;
  private readonly registrar: Bus;
  private isOver = false;
  /** What waits for the first time of a phase. */
  private readonly awaited = new Map<string, (() => void)[]>();

  constructor(
    private readonly history: FleetHistory,
    private readonly o: FleetOptions = {},
  ) {
    this.time = new VirtualTime();
    this.dice = diceOf(history.seed, 'world');
    const { time, dice, chassis, bmcs, hosts } = this;
    const tell = (line: string): void => this.trace(line);
    this.oracle = new FleetOracle({
      now: () => time.nowMs,
      chassis,
      hosts,
      brake: brakeLimit(history.nodes.length, history.storm),
      bounds: { ...presentBounds, staleRecheckMs: HEARD_MS },
      owesOn: (node) => bmcs.get(node)?.owesOn === true,
      intended: () => undefined,
      isCalledUp: (node) => this.monitor.lastOf(node) === 'UP',
      noQuorum: () => (this.monitor.isSighted ? undefined : 'the monitor has no quorum'),
      brokers: history.brokers,
      machineOf: (node) => history.wires[node] ?? node,
      notCalledDead: (node) => {
        const verdict = this.monitor.lastOf(node);
        return verdict === 'DOWN' ? undefined : `the monitor says ${verdict}`;
      },
      wallOf: (process) => this.processes.wallOf(process),
      phase: (phase, node, gate) => {
        this.reached(`${phase} ${node}`);
        if (gate !== undefined) this.reached(`${phase} ${node} ${gate}`);
      },
    });
    const { oracle } = this;
    this.points = new CrashPoints(this.planOf(o.plan ?? nobodyCrashes), o.reached);
    this.processes = new PlayedProcesses({
      time,
      dice,
      seed: history.seed,
      points: this.points,
      // A pause is over by the wall clock of whoever looks.
      wallSpreadMs: WALL_SPREAD_MS,
      born: (name) => oracle.born(name),
      tell,
      failed: (name, fault) => {
        if (fault === undefined) oracle.probe('a program could not start, or stop');
        else oracle.violate('failed', `${name}: ${fault.stack ?? fault.message}`);
      },
    });
    this.server = new PlayedServer(time, {
      version: history.server,
      faults: new PlayedFaults(diceOf(history.seed, 'faults')),
      stored: (stream, subject, payload, seq, from) => this.stored(stream, subject, String(payload), seq, from),
      refused: (stream, subject, from) => {
        if (time.nowMs > BEGUN_MS && stream.startsWith('KV_'))
          oracle.counts.writeRefused(...keyOf(stream, subject), from);
      },
    });
    const { told } = o;
    this.programs = new HandsPrograms({
      time,
      dice,
      server: this.server,
      oracle,
      bmcs,
      wires: history.wires,
      noFork: new Set(),
      noDrivers: new Set(),
      playbook: hostPlaybooks({ time, dice, hosts, cleaning: (host) => oracle.cleaning(host) }),
      jobOf,
      looks: true,
      coded: (process, code) => oracle.counts.coded(process, code),
      tell,
      logged: told && ((line) => told(time.nowMs, line)),
    });
    this.faults = new ProgramFaults({
      time,
      server: this.server,
      processes: this.processes,
      connections: this.programs.connections,
      holderOf: (lease) => oracle.holderOf(lease),
      madeAnew: (bucket) => oracle.madeAnew(bucket),
    });
    const agents = this.programs.immortalBus('agents');
    for (const node of history.nodes) this.addNode(node, agents);
    const called = (node: string, verdict: VerdictKind): void => oracle.called(node, verdict);
    this.monitor = new PlayedMonitor({ bus: this.programs.immortalBus('monitor'), dice, hosts, tell, called });
    this.registrar = this.programs.immortalBus('registrar');
    this.operator = new Operator({ bus: this.programs.immortalBus('operator'), oracle, tell });
    const add = (name: string, service: string, program: Program): void =>
      this.processes.add(name, (life) => {
        life.onEnd(() => {
          if (!this.isOver) oracle.counts.programEnded(service);
        });
        return program(life);
      });
    for (const name of history.inventories) add(name, 'an inventory', (life) => this.inventory(life));
    for (const name of history.fencers) add(name, 'a fencer', (life) => this.programs.fencer(life));
    for (const name of history.provisioners) add(name, 'a provisioner', (life) => this.programs.provisioner(life));
  }

  async run(): Promise<PlayResult> {
    const { history, time, oracle } = this;
    await time.settle(this.registrar.createBuckets());
    await time.settle(this.register());
    await time.settle(this.monitor.open());
    this.processes.startAll();
    this.server.faults.rates = roughRates(history.lostAnswers);
    for (const event of history.events)
      time.schedule((event.at - time.nowMs) * NS_PER_MS, event.kind, () => this.happen(event));
    await time.advance(history.quietFrom - time.nowMs);
    this.calm();
    // What was given before may be carried out so much later.
    await time.advance(FencingNumbers.deviceLag);
    oracle.judgePlan(await this.settled());
    oracle.judgeEnd();
    const owedMs = oracle.powerOnsDueMs - time.nowMs;
    if (owedMs > 0) {
      await time.until(() => oracle.powerOnsDueMs === 0, owedMs);
      oracle.judgePowerOns();
    }
    this.isOver = true;
    this.processes.removeAll();
    return {
      history: history.name,
      violations: oracle.violations,
      probes: oracle.probes,
      hash: time.hash,
      crashPoints: this.points.total,
      events: time.events,
      virtualMs: time.nowMs,
    };
  }

  /**
   * What the plan says of a moment at which all is settled, or when it has to be: what follows may begin beside the asking,
   * and what stood in the way of a start may just have ended.
   */
  private async settled(): Promise<readonly PlanItem[]> {
    const { time, oracle } = this;
    const endsMs = time.nowMs + SETTLED_MS - FencingNumbers.deviceLag;
    for (;;) {
      await time.until(() => oracle.isSettled, endsMs - time.nowMs);
      const items = await time.settle(this.plan());
      const ends = time.nowMs >= endsMs;
      if (ends || (oracle.isSettled && oracle.isAllNamed(items))) return items;
      if (oracle.isSettled) await time.advance(Math.min(ACTS_WITHIN_MS, endsMs - time.nowMs));
    }
  }

  private async plan(): Promise<readonly PlanItem[]> {
    for (let n = 1; ; n += 1)
      try {
        return (await this.registrar.call('inventory.plan', {}, { timeoutMs: 4_000 })).items;
      } catch (e) {
        if (n === PLAN_TRIES.most) throw e;
        await this.registrar.clock.sleep(PLAN_TRIES.everyMs);
      }
  }

  failed(what: string): void {
    this.oracle.violate('failed', what);
  }

  private addNode(node: string, agents: Bus): void {
    const { time, dice, oracle } = this;
    const chassis = new Chassis(node, () => time.nowMs);
    this.chassis.set(node, chassis);
    const tell = (line: string): void => this.trace(line);
    const host = new PlayedHost({ node, time, dice, chassis, bus: agents, witness: oracle, tell });
    this.hosts.set(node, host);
    oracle.lives(node, true);
    const switched = (on: boolean, sentMs: number, by: string): void => {
      tell(`the power of ${node} is ${on ? 'on' : 'off'} (${by})`);
      oracle.switched(node, on, sentMs, by);
      host.powered(on);
    };
    const bmc = new Bmc(chassis, time, dice, switched);
    bmc.shutsDown = () =>
      void time.schedule((1_000 + dice.roll() * 3_000) * NS_PER_MS, `${node} shuts down`, () => {
        if (host.state !== 'up' || !chassis.on) return;
        chassis.switch(false, 'its system');
        switched(false, time.nowMs, 'its system');
      });
    bmc.tellsGuid = this.history.tellGuid.includes(node);
    this.bmcs.set(node, bmc);
    const { workloads, ungated, tireless } = this.history;
    for (const [workload, on] of Object.entries(workloads))
      if (on === node) host.seed(workload, 1, { lateMs: ungated[workload], tireless: tireless.includes(workload) });
  }

  /** The fleet as it was yesterday: commissioned, in service, and its workloads known to be where they run. */
  private async register(): Promise<void> {
    const { history, registrar } = this;
    for (const [i, name] of history.nodes.entries()) {
      const device = deviceOf(name, i);
      const guid = history.tellGuid.includes(name) ? this.chassis.get(name)?.guid : undefined;
      const identity: PowerIdentity = guid === undefined ? drilledIdentity({}, device, 1) : provenByGuid(device, guid);
      const node: NodeRecord = aNode(name, {
        failureDomain: history.domains[name] ?? `rack-${i}`,
        hostGroup: 'service-worker',
        powerLevels: [[device]],
        powerIdentity: { [device.id]: identity },
        ...(guid !== undefined && { hardware: { systemUuid: guid, bmcGuid: guid, at: 1 } }),
        networks: { management: { address: `10.0.${placeOf(i)}` }, backend: { address: `10.1.${placeOf(i)}` } },
        ...(this.hosts.get(name) && { bootId: this.hosts.get(name)?.bootId ?? '' }),
        provisioned: { checksum: CHECKSUM, at: 1, job: 'job-0' },
      });
      await registrar.bucket<NodeRecord>('nodes').create(name, node);
    }
    for (const [name, node] of Object.entries(history.workloads)) {
      const workload: WorkloadRecord = {
        name,
        desired: 'running',
        priority: 0,
        weight: 1,
        recovery: { driver: 'ansible', spec: { exec: `/usr/bin/${name}` } },
        assignment: { node, generation: 1 },
        generation: 1,
        boot: this.hosts.get(node)?.bootId ?? '',
      };
      await registrar.bucket<WorkloadRecord>('workloads').create(name, workload);
    }
  }

  private async inventory(life: Life): Promise<Running> {
    const { storm, hung } = this.history;
    return startInventory({
      bus: this.programs.busOf(life),
      instance: life.process,
      brokers: this.history.brokers,
      run: this.o.run,
      initial: {
        fencing: { ...defaultFencing, mode: 'enforce', storm, hung },
      },
    });
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
  private planOf(plan: CrashPlan): CrashPlan {
    const { seed, crashes, quietFrom } = this.history;
    const dice = diceOf(seed, 'crashes');
    const mayDie = (): boolean => this.time.nowMs > BEGUN_MS && this.time.nowMs < quietFrom;
    return (point: CrashPoint) => plan(point) || (crashes > 0 && mayDie() && dice.chance(crashes));
  }

  private happen(e: FleetEvent): void {
    this.trace(JSON.stringify(e));
    const later = (ms: number, label: string, fn: () => void): void =>
      void this.time.schedule(ms * NS_PER_MS, label, fn);
    switch (e.kind) {
      case 'death':
        this.hosts.get(e.node)?.die();
        return;
      case 'hang':
        this.hosts.get(e.node)?.hang();
        if (e.forMs !== undefined) later(e.forMs, `${e.node} goes on`, () => this.hosts.get(e.node)?.thaw());
        return;
      case 'wake':
        this.hosts.get(e.node)?.thaw();
        this.hosts.get(e.node)?.heal();
        return;
      case 'reset':
        this.hosts.get(e.node)?.reset();
        return;
      case 'cut':
        this.oracle.stormBegins(e.nodes);
        e.nodes.forEach((node, i) => {
          this.hosts.get(node)?.cut();
          later(e.forMs + i * e.everyMs, `${node} is heard again`, () => this.hosts.get(node)?.heal());
        });
        return;
      case 'unplugged':
        this.byHand(e.node, false);
        later(e.forMs, `${e.node} is plugged in`, () => this.byHand(e.node, true));
        return;
      case 'by-hand':
        this.byHand(e.node, e.on);
        return;
      case 'ends':
        for (const host of this.hosts.values()) host.fail(e.workload);
        return;
      case 'full':
        this.hosts.get(e.node)?.fill();
        return;
      case 'ordered-again':
        this.hosts.get(e.node)?.orderAgain();
        return;
      case 'drift': {
        const host = this.hosts.get(e.node);
        if (host !== undefined) host.drifted = true;
        return;
      }
      case 'errs':
        this.monitor.errs(e.node, e.verdict, e.forMs);
        return;
      case 'monitor-away':
        this.monitor.leave(e.forMs);
        return;
      case 'told-again':
        this.monitor.repeatVerdict(e.node);
        return;
      case 'bmc': {
        const bmc = this.bmcs.get(e.node);
        if (bmc === undefined) return;
        bmc.mood = e.mood;
        bmc.takesMs = e.takesMs;
        return;
      }
      case 'wall-jump':
        this.operator.wallJumped();
        this.faults.play(e);
        return;
      case 'crash':
      case 'stop':
      case 'pause':
      case 'server-restart':
      case 'bucket-anew':
        this.faults.play(e);
        return;
      case 'cut-off':
        this.faults.cutOff(e.process, e);
        return;
      case 'held-up':
        this.faults.holdUp(e.process, e);
        return;
      case 'order':
        this.operator.order(e.order);
        return;
      case 'after': {
        const what = e.gate === undefined ? `${e.phase} ${e.node}` : `${e.phase} ${e.node} ${e.gate}`;
        const then = (): void => later(e.inMs, `after ${e.phase}`, () => this.happen(e.does));
        this.awaited.set(what, [...(this.awaited.get(what) ?? []), then]);
      }
    }
  }

  private reached(what: string): void {
    const then = this.awaited.get(what);
    this.awaited.delete(what);
    for (const fn of then ?? []) fn();
  }

  private byHand(node: string, on: boolean): void {
    const chassis = this.chassis.get(node);
    if (chassis === undefined || chassis.on === on) return;
    chassis.switch(on, 'by hand');
    this.hosts.get(node)?.powered(on);
  }

  private stored(stream: string, subject: string, text: string, seq: number, from: Sender): void {
    if (!stream.startsWith('KV_')) return;
    const [bucket, key] = keyOf(stream, subject);
    this.oracle.stored(bucket, key, text, seq);
    this.oracle.counts.writeTaken(bucket, key, from);
  }

  private trace(line: string): void {
    this.time.trace(line);
    this.o.told?.(this.time.nowMs, line);
  }
}

/** The bucket and the key of a record's message. */
function keyOf(stream: string, subject: string): [bucket: string, key: string] {
  const bucket = stream.slice('KV_'.length);
  return [bucket, subject.slice(`$KV.${bucket}.`.length)];
}
