import { setTimeout as pause } from 'node:timers/promises';
import { TestEnvironment } from 'jest-environment-node';
import { giveLinkedPackages } from './linked-packages.mjs';
import { holdGlobals } from './quick-globals.mjs';

/** What closes by itself has so long, on a machine that is busy with others, too. */
const GRACE_MS = 10_000;
const EVERY_MS = 10;

// Node opens these when they are first looked at, as pipes that stay: whichever file does it leaves nothing by it.
export const opened = [process.stdin, process.stdout, process.stderr];

/** Jest's own process has handles of its own, which come and go. */
const isWorker = process.send !== undefined;

/**
 * The environment of each spec file: the file fails that leaves open what keeps its process alive (timers, sockets,
 * servers, child processes). Otherwise Jest kills a worker that does not end, and cannot say which of its files it was.
 */
export default class LeavesNothing extends TestEnvironment {
  before = counted();
  /** A test or hook has failed: that is told, and not what it has left behind. */
  failed = false;

  constructor(config, context) {
    super(config, context);
    holdGlobals(this.getVmContext());
    giveLinkedPackages(this.global, this.getVmContext());
  }

  handleTestEvent({ name }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.failed = true;
  }

  async teardown() {
    const left = isWorker && !this.failed ? await this.leftOver() : undefined;
    await super.teardown();
    if (left !== undefined)
      throw new Error(
        `still open ${GRACE_MS / 1000} s after the last test: ${left}; --detectOpenHandles tells where from`,
      );
  }

  /** The kinds and numbers of what is open and was not before; undefined: nothing. */
  async leftOver() {
    const end = performance.now() + GRACE_MS;
    for (;;) {
      const more = [...counted()].filter(([kind, n]) => n > (this.before.get(kind) ?? 0));
      if (more.length === 0) return undefined;
      if (performance.now() > end)
        return more.map(([kind, n]) => `${n - (this.before.get(kind) ?? 0)} ${kind}`).join(', ');
      await pause(EVERY_MS, undefined, { ref: false });
    }
  }
}

/** What keeps this process alive, by kind. */
function counted() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo())
    // An immediate is over within a turn of the loop; Node miscounts those of a run of many thousand.
    if (kind !== 'Immediate') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
