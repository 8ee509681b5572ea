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
  /** ms until the guard has started the command: it refuses to, where the deadline has passed by then. @default 0 */
  guardMs?: number;
  /** ms until the command does what it is for: the guard's start and its own. */
  startMs: number;
  /** ms after its parent's death until the guard has noticed; until its deadline at the latest. */
  orphanMs: number;
  /** The command runs; it says `exit` when it is through. */
  begin: (exit: () => void) => void;
  /** Nothing of it runs any more, whether or not anybody is told. */
  over?: (how: GuardEnd) => void;
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
    let forget = (): void => undefined;
    const startedNs = time.nowNs + (command.guardMs ?? 0) * NS_PER_MS;
    const end = (how: GuardEnd): void => {
      if (over) return;
      over = true;
      timer?.cancel();
      extending.cancel();
      forget();
      signal?.removeEventListener('abort', kill);
      command.over?.(how);
      life.clock.incoming(NS_PER_MS, `${name} is over: ${how}`, () => resolve(how));
    };
    const kill = (): void => end('killed');
    const arm = (): void => {
      timer?.cancel();
      const leftNs = life.clock.virtualMs(deadlineNs) * NS_PER_MS - time.nowNs;
      timer = time.schedule(Math.max(0, leftNs), `${name}: its deadline`, () =>
        end(time.nowNs < startedNs ? 'refused' : 'deadline'),
      );
    };
    const extending = life.clock.every(EXTEND_MS, () => {
      const later = command.untilNs();
      if (over || later <= deadlineNs) return;
      deadlineNs = later;
      arm();
    });
    if (life.clock.monotonicNs() >= deadlineNs) return end('refused');
    forget = life.onEnd(() => time.schedule(command.orphanMs * NS_PER_MS, `${name}: its parent is gone`, kill));
    arm();
    signal?.addEventListener('abort', kill, { once: true });
    if (signal?.aborted === true) return kill();
    time.schedule(command.startMs * NS_PER_MS, `${name} runs`, () => {
      if (!over) command.begin(() => end('exit'));
    });
  });
}
