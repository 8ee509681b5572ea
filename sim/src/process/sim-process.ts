import type { VirtualTime } from '../time/virtual-time.js';
import { NS_PER_MS } from '../time/virtual-time.js';
import type { Life } from './life.js';

/** What a program is while it runs; resolved once it has started. */
export interface Running {
  /** In good order, as on SIGTERM. */
  stop(): Promise<void>;
}

/** Composes the product's own classes on the ports of one life. */
export type Program = (life: Life) => Promise<Running>;

export interface SimProcessOptions {
  name: string;
  /** A new life: its clock and what else it is made of. */
  born: () => Life;
  program: Program;
  /** ms of virtual time until its supervisor has started it again after it ended. */
  restartMs: () => number;
  /** It ended, or could not be started, by an error of its own. */
  failed?: (error: unknown) => void;
}

/** A process under a supervisor: it can be stopped, killed, paused, and comes again unless it is to stay away. */
export class SimProcess {
  private life: Life | undefined;
  private running: Running | undefined;
  private wanted = false;
  /** Lives so far. */
  lives = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly o: SimProcessOptions,
  ) {}

  get name(): string {
    return this.o.name;
  }

  get alive(): boolean {
    return this.life !== undefined;
  }

  start(): void {
    this.wanted = true;
    if (this.life === undefined) this.begin();
  }

  /** kill -9; its supervisor starts it again. */
  crash(): void {
    this.life?.end();
  }

  /** kill -9, and it stays away until {@link start}. */
  remove(): void {
    this.wanted = false;
    this.life?.end();
  }

  /** SIGSTOP: its clock goes on, nothing happens in it. */
  pause(): void {
    this.life?.clock.pause();
  }

  resume(): void {
    this.life?.clock.resume();
  }

  /** SIGTERM: it ends in order, and is started again. Resolves when it has ended; it may die on the way. */
  async restart(): Promise<void> {
    const { life, running } = this;
    if (life === undefined) return;
    const ended = new Promise<void>((resolve) => life.onEnd(resolve));
    try {
      await Promise.race([running?.stop(), ended]);
    } catch (error) {
      // As a service that stops badly: it ends all the same.
      this.o.failed?.(error);
    }
    life.end();
  }

  private begin(): void {
    const life = this.o.born();
    this.life = life;
    this.lives++;
    life.onEnd(() => {
      this.life = undefined;
      this.running = undefined;
      this.time.schedule(this.o.restartMs() * NS_PER_MS, `${this.name} is started again`, () => {
        if (this.wanted && this.life === undefined) this.begin();
      });
    });
    this.o.program(life).then(
      (running) => {
        if (!life.over) this.running = running;
      },
      (error: unknown) => {
        if (life.over) return;
        this.o.failed?.(error);
        life.end();
      },
    );
  }
}
