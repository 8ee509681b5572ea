import { Bus, Lease, silentLog, type BusLog } from '#bus';
import { identityBasis, type PowerDevice, type PowerIdentity } from '#contracts';
import type { Dice } from '#contracts/testing/dice.js';
import type { Logger } from 'pino';
import { ServiceContext } from '#service';
import { Fencer } from '../../../apps/fencer/src/fencer.js';
import { BmcQueue } from '../../../apps/fencer/src/power/bmc-queue.js';
import type { AnsibleRunOptions } from '../../../apps/provisioner/src/ansible/ansible-run.js';
import { JobRunner } from '../../../apps/provisioner/src/jobs/job-runner.js';
import { PowerController } from '../../../apps/fencer/src/power/power.controller.js';
import { PowerReader } from '../../../apps/fencer/src/power/power-reader.js';
import { answerRpcs } from '../nats/answer-rpc.js';
import { clientOf } from '../nats/played-client.js';
import type { PlayedConnection } from '../nats/played-connection.js';
import type { PlayedServer } from '../nats/played-server.js';
import type { Life } from '../process/life.js';
import { mortalLog, mortalWire } from '../process/mortal-ports.js';
import { playedConfig } from '../process/played-config.js';
import { sharedRecords } from '../process/shared-records.js';
import type { Running } from '../process/sim-process.js';
import { SeededRandom } from '../time/seeded-random.js';
import { VirtualClock } from '../time/virtual-clock.js';
import type { VirtualTime } from '../time/virtual-time.js';
import type { Bmc } from './bmc.js';
import type { HandsOracle } from './hands-oracle.js';
import { PlayedAnsible, type PlayedPlaybook } from './played-ansible.js';
import { PlayedPower } from './played-power.js';

export interface HandsProgramsParts {
  time: VirtualTime;
  dice: Dice;
  server: PlayedServer;
  oracle: HandsOracle<string>;
  /** By node. */
  bmcs: ReadonlyMap<string, Bmc>;
  /** Node → the one whose BMC its device truly reaches, where that is another. @default each reaches its own */
  wires?: Readonly<Record<string, string>>;
  /** Processes that cannot start another one, and those without a driver. */
  noFork: ReadonlySet<string>;
  noDrivers: ReadonlySet<string>;
  /** What becomes of a playbook. */
  playbook: PlayedPlaybook;
  /** The job that it is of. */
  jobOf: (o: AnsibleRunOptions) => string;
  /** Fencers answer what power is as well. @default not */
  looks?: boolean;
  /** Something happened. */
  tell: (line: string) => void;
  /** A program has written a line of its log that is about this error code. */
  coded?: (process: string, code: string) => void;
  /** A line of a program's log; absent: nobody reads them. */
  logged?: ((line: string) => void) | undefined;
}

/** The end of the address of a node, on each of its networks. */
export const placeOf = (index: number): string => `${Math.floor(index / 250)}.${(index % 250) + 1}`;

/** As it stands in the record of its node. */
export const deviceOf = (node: string, index: number): PowerDevice => ({
  id: `bmc-${node}`,
  driver: 'ipmitool',
  address: `10.2.${placeOf(index)}`,
});
/** As it was found in good days. */
export const provenByGuid = (device: PowerDevice, guid: string): PowerIdentity => ({
  ...{ result: 'proven', by: 'guid', at: 1 },
  ...{ seen: { guid }, basis: identityBasis(device) },
});

/** The machine that a device was built into: the record may have passed to a node of another name. */
export const nodeOf = (device: PowerDevice): string => device.id.slice('bmc-'.length);

/** The product's own programs, each composed on the ports of one life. */
export class HandsPrograms {
  /** Of each process the last one. */
  readonly connections = new Map<string, PlayedConnection>();
  private readonly held = new Map<string, Lease>();
  private readonly codec = sharedRecords();

  constructor(private readonly p: HandsProgramsParts) {}

  async fencer(life: Life): Promise<Running> {
    const { oracle, noDrivers, noFork } = this.p;
    const bus = this.busOf(life);
    const cannot = (): boolean => noDrivers.has(life.process) || noFork.has(life.process);
    const bmc = (node: string): Bmc => this.p.bmcs.get(node) as Bmc;
    const power = new PlayedPower({
      time: this.p.time,
      life,
      dice: this.p.dice,
      bmcOf: (device) => bmc(this.p.wires?.[nodeOf(device)] ?? nodeOf(device)),
      ownOf: (device) => bmc(nodeOf(device)).chassis,
      cannotStart: cannot,
      cut: () => oracle.commandCut(life.process),
      sent: (c) => {
        if (c.verb !== 'status') this.p.tell(`${c.fencer} sends ${c.verb} to ${c.device.id}`);
        oracle.commandSent(nodeOf(c.device), c);
      },
      read: (device, outcome) => oracle.readEnded(nodeOf(device), life.process, outcome),
      unsaid: (device, startedMs) => oracle.unsaid(device, startedMs),
      identified: (device, startedMs) => oracle.identified(nodeOf(device), device, startedMs),
      denied: (device) => oracle.denies(nodeOf(device), device, life.process),
    });
    const queue = new BmcQueue();
    const fencer = new Fencer({
      bus,
      instance: life.process,
      log: bus.log,
      power,
      queue,
      drivers: { test: () => life.call('drivers.test', () => Promise.resolve(cannot() ? [] : ['ipmitool'])) },
      ownHost: () => ({ name: `host-of-${life.process}`, addresses: [] }),
      displaced: () => life.end(),
    });
    const looks = this.p.looks === true ? await this.looksOf(bus, life, power, queue) : undefined;
    await fencer.start();
    return {
      stop: async () => {
        await looks?.stop();
        await fencer.stop();
      },
    };
  }

  /** Power as inventory asks for it, beside all fencing. */
  private async looksOf(bus: Bus, life: Life, power: PlayedPower, queue: BmcQueue): Promise<Running> {
    const config = playedConfig({ instance: life.process });
    const context = new ServiceContext(config, bus, bus.log as unknown as Logger, 'fencer');
    const reader = new PowerReader(context, power, queue);
    await reader.onApplicationBootstrap();
    const controller = new PowerController(reader);
    const answers = answerRpcs(bus, 'fencer', {
      'fencer.power.read': (q) => controller.read(q),
      'fencer.power.identify': (q) => controller.identify(q),
    });
    return {
      stop: async () => {
        await answers.close();
        await reader.onApplicationShutdown();
      },
    };
  }

  async provisioner(life: Life): Promise<Running> {
    const bus = this.busOf(life);
    const runner = new JobRunner({
      bus,
      config: playedConfig({ instance: life.process }),
      log: bus.log,
      host: `host-of-${life.process}`,
      ansible: new PlayedAnsible({
        time: this.p.time,
        life,
        dice: this.p.dice,
        isBroken: () => this.p.noFork.has(life.process),
        play: this.p.playbook,
        begins: (o) => {
          const { nodes, step } = o;
          this.p.tell(`${life.process} runs ${step} on ${nodes.join(' ')}`);
          return this.p.oracle.runBegins(this.p.jobOf(o), life.process, step);
        },
      }),
      displaced: () => life.end(),
    });
    await runner.start();
    return { stop: () => runner.stop() };
  }

  async contender(life: Life): Promise<Running> {
    const name = 'conductor';
    const lease = new Lease(this.busOf(life), { name, holder: life.process });
    lease.on((event, token) => {
      if (event !== 'acquired' || life.over) return;
      const others = [...this.held].flatMap(([who, other]) => (who !== life.process && other.held ? [who] : []));
      this.p.oracle.leaseAcquired(name, life.process, token, others);
    });
    lease.start();
    this.held.set(life.process, lease);
    life.onEnd(() => this.held.delete(life.process));
    return Promise.resolve({ stop: () => lease.stop() });
  }

  /** Of somebody who never dies. */
  immortalBus(name: string): Bus {
    const clock = new VirtualClock(this.p.time, { name });
    const random = this.random();
    const client = clientOf(this.p.server, name, clock, random);
    const { wire, messages } = client;
    return new Bus({ name, wire, messages, clock, random, log: silentLog, codec: this.codec });
  }

  /** Of a process that may die at each call. */
  busOf(life: Life): Bus {
    const random = this.random();
    const client = clientOf(this.p.server, life.process, life.clock, random);
    this.connections.set(life.process, client.connection);
    life.onEnd(() => client.connection.vanish());
    return new Bus({
      name: life.process,
      wire: mortalWire(life, client.wire),
      messages: mortalLog(life, client.messages),
      clock: life.clock,
      random,
      log: this.logOf(life.process),
      codec: this.codec,
    });
  }

  private random(): SeededRandom {
    return new SeededRandom(this.p.dice.below(2 ** 31));
  }

  private logOf(process: string): BusLog {
    const { coded, logged } = this.p;
    const code = (facts: object): void => {
      if (coded !== undefined && 'code' in facts && typeof facts.code === 'string') coded(process, facts.code);
    };
    const line = (facts: object, message: string): void => {
      code(facts);
      logged?.(
        `${process}: ${message} ${JSON.stringify(facts, (_k, v: unknown) => (v instanceof Error ? v.message : v))}`,
      );
    };
    return { debug: code, info: line, warn: line, error: line };
  }
}
