import type { Life } from '../process/life.js';
import { NS_PER_MS, type Scheduled, type VirtualTime } from '../time/virtual-time.js';

/** How a guarded command ended, as its parent is told. */
export type GuardEnd = 'exit' | 'deadline' | 'killed' | 'refused';

export interface GuardedCommand {
  /** In the labels of its events. */
  name: string;
  /** CLOCK_MONOTONIC of the parent's host, ns; asked by the parent every {@link EXTEND_MS} while it runs. */
  untilNs: () => bigint;
  signal?: AbortSignal | undefined;
  /** ms until the command itself runs: the guard's start and its own. */
  startMs: number;
  /** ms after its parent's death until the guard has noticed; until its deadline at the latest. */
  orphanMs: number;
  /** The command runs; it says `exit` when it is through. */
  begin: (exit: () => void) => void;
  /** Nothing of it runs any more, whether or not anybody is told. */
  over?: () => void;
}

/** As the drivers do: how often the guard is told the lease's new end. */
const EXTEND_MS = 500;

/**
 * The guard's semantics: the command is not begun past the deadline, and is killed at it, at its parent's death, and by
 * the signal; also while the parent is stopped or dead, which then cannot move the deadline. What the command has sent
 * to a device is done all the same.
 */
export function runUnderGuard(time: VirtualTime, life: Life, command: GuardedCommand): Promise<GuardEnd> {
  return new Promise((resolve) => {
    const { name, signal } = command;
    let over = false;
    let deadlineNs = command.untilNs();
    let timer: Scheduled | undefined;
    const end = (how: GuardEnd): void => {
      if (over) return;
      over = true;
      timer?.cancel();
      extending.cancel();
      signal?.removeEventListener('abort', kill);
      command.over?.();
      life.clock.incoming(NS_PER_MS, `${name} is over: ${how}`, () => resolve(how));
    };
    const kill = (): void => end('killed');
    const arm = (): void => {
      timer?.cancel();
      const leftNs = Number(deadlineNs - life.clock.monotonicNs());
      timer = time.schedule(Math.max(0, leftNs), `${name}: its deadline`, () => end('deadline'));
    };
    const extending = life.clock.every(EXTEND_MS, () => {
      const later = command.untilNs();
      if (over || later <= deadlineNs) return;
      deadlineNs = later;
      arm();
    });
    life.onEnd(() => time.schedule(command.orphanMs * NS_PER_MS, `${name}: its parent is gone`, kill));
    if (life.clock.monotonicNs() >= deadlineNs) return end('refused');
    arm();
    signal?.addEventListener('abort', kill, { once: true });
    if (signal?.aborted === true) return kill();
    time.schedule(command.startMs * NS_PER_MS, `${name} runs`, () => {
      if (!over) command.begin(() => end('exit'));
    });
  });
}
