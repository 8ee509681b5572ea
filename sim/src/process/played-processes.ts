import { MusterError } from '#contracts';
import type { Dice } from '#contracts/testing/dice.js';
import { diceOf } from '../time/seeded-random.js';
import { VirtualClock, type VirtualClockOptions } from '../time/virtual-clock.js';
import type { VirtualTime } from '../time/virtual-time.js';
import type { CrashPoints } from './crash-points.js';
import { Life } from './life.js';
import { SimProcess, type Program } from './sim-process.js';

export interface PlayedProcessesParts {
  time: VirtualTime;
  dice: Dice;
  /** Of the history: what each host's clock is like follows from it. */
  seed: number;
  points: CrashPoints;
  /** Wall clocks of hosts are so far apart at most, ms. */
  wallSpreadMs: number;
  /** A life begins: what was known to an earlier one of its name, it does not know. */
  born: (name: string) => void;
  /** Something happened. */
  tell: (line: string) => void;
  /** It could not start, or stop: `fault` where that is an error of its own. */
  failed: (name: string, fault: Error | undefined) => void;
}

type HostTime = Required<Omit<VirtualClockOptions, 'name'>>;
/** Some weeks: what is counted in ns has to stay exact. */
const MOST_UPTIME_MS = 2_000_000_000;

/** The programs of a world, each a process under a supervisor, on a host with a clock of its own. */
export class PlayedProcesses {
  private readonly processes = new Map<string, SimProcess>();
  /** What each process's host tells as time, over all its lives. */
  private readonly hosts = new Map<string, HostTime>();
  private readonly clocks = new Map<string, VirtualClock>();

  constructor(private readonly p: PlayedProcessesParts) {}

  add(name: string, program: Program): void {
    const { time, dice, tell } = this.p;
    const process: SimProcess = new SimProcess(time, {
      name,
      born: () => this.bornLife(name, process.lives),
      program,
      restartMs: () => 500 + dice.roll() * 1_500,
      failed: (e) => {
        tell(`${name} could not start, or stop: ${e instanceof Error ? e.message : String(e)}`);
        const isFault = MusterError.from(e).code === 'INTERNAL';
        this.p.failed(name, isFault ? (e instanceof Error ? e : new Error(String(e))) : undefined);
      },
    });
    this.processes.set(name, process);
  }

  get(name: string): SimProcess | undefined {
    return this.processes.get(name);
  }

  /** What its host tells as the time of day; undefined: there is none of this name. */
  wallOf(name: string): number | undefined {
    return this.clocks.get(name)?.wallMs();
  }

  startAll(): void {
    for (const process of this.processes.values()) process.start();
  }

  removeAll(): void {
    for (const process of this.processes.values()) process.remove();
  }

  /** Somebody sets the wall clock of its host. */
  jumpWall(name: string, ms: number): void {
    const host = this.hosts.get(name);
    if (host !== undefined) host.wallMs += ms;
    this.clocks.get(name)?.jumpWall(ms);
  }

  private bornLife(name: string, incarnation: number): Life {
    const { time, points, born, tell } = this.p;
    const clock = new VirtualClock(time, { name: `${name}.${incarnation}`, ...this.hostOf(name) });
    this.clocks.set(name, clock);
    const life = new Life(name, clock, points);
    born(name);
    life.onEnd(() => tell(`${name} ended`));
    return life;
  }

  private hostOf(name: string): HostTime {
    const known = this.hosts.get(name);
    if (known !== undefined) return known;
    const dice = diceOf(this.p.seed, `clock of ${name}`);
    const host = {
      hostUptimeMs: dice.roll() * MOST_UPTIME_MS,
      rate: 0.99 + dice.roll() * 0.02,
      wallMs: Date.UTC(2026, 0, 1) + (dice.roll() - 0.5) * this.p.wallSpreadMs,
      lateMs: () => dice.roll() * 3,
    };
    this.hosts.set(name, host);
    return host;
  }
}
