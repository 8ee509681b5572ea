import { setTimeout as pause } from 'node:timers/promises';

/** What closes by itself has so long, on a machine that is busy with others, too. */
const GRACE_MS = 10_000;
const EVERY_MS = 10;

/** Timers that are longer than the grace, each with where it was made: by a kind and a number alone nobody finds it. */
const lasting = new Map();
for (const name of ['setTimeout', 'setInterval']) {
  const made = globalThis[name];
  const noting = (callback, ms, ...values) => {
    const timer = made(callback, ms, ...values);
    if (ms >= GRACE_MS) lasting.set(timer, new Error(`${name} of ${ms} ms`).stack);
    return timer;
  };
  globalThis[name] = Object.defineProperties(noting, Object.getOwnPropertyDescriptors(made));
}

// Node opens these when they are first looked at, as pipes that stay: whichever file does it leaves nothing by it.
export const opened = [process.stdin, process.stdout, process.stderr];

/** What keeps this process alive and did not when this was made: what a spec file has left open. */
export class OpenHandles {
  before = counted();
  lastingBefore = new Set(openLasting().keys());

  /** A sentence with the kinds and numbers of what is still open after so many ms; undefined: nothing. */
  async left(graceMs = GRACE_MS) {
    const end = performance.now() + graceMs;
    for (;;) {
      const more = [...counted()].filter(([kind, n]) => n > (this.before.get(kind) ?? 0));
      const timers = [...openLasting()].filter(([timer]) => !this.lastingBefore.has(timer));
      if (more.length === 0 && timers.length === 0) return undefined;
      if (performance.now() > end) {
        const named = more.map(([kind, n]) => `${n - (this.before.get(kind) ?? 0)} ${kind}`).join(', ');
        const kinds = named === '' ? `${timers.length} Timeout` : named;
        const made = timers.map(([, stack]) => stack);
        return [`still open ${graceMs / 1000} s after the last test: ${kinds}`, ...made].join('\n');
      }
      await pause(EVERY_MS, undefined, { ref: false });
    }
  }
}

/** Those of the lasting timers that keep this process alive; what is over is forgotten. */
function openLasting() {
  for (const timer of lasting.keys()) if (timer._destroyed) lasting.delete(timer);
  return new Map([...lasting].filter(([timer]) => timer.hasRef()));
}

/** What keeps this process alive, by kind. */
function counted() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo())
    // An immediate is over within a turn of the loop; Node miscounts those of a run of many thousand.
    if (kind !== 'Immediate') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}
