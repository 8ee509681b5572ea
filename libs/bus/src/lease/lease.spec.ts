import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runs, SEED, seeded } from '#contracts/testing/chance.js';
import { connectBus, type Bus } from '../bus/bus.js';
import { Lease } from './lease.js';
import type { LeaseRecord } from './lease-decide.js';
import { daemon, type Daemon } from '../testing/daemon.js';
import { startTestNats, type TestNats } from '../testing/nats.js';
import { startProxy, type TestProxy } from '../testing/proxy.js';

async function until(what: () => boolean, limitMs = 30_000): Promise<void> {
  const start = performance.now();
  while (!what()) {
    if (performance.now() - start > limitMs) throw new Error('what was waited for did not happen');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
const passed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('lease on a real server', () => {
  let nats: TestNats;
  let buses: Bus[];
  let leases: Lease[];
  let proxies: TestProxy[];

  beforeEach(async () => {
    nats = await startTestNats();
    buses = [];
    leases = [];
    proxies = [];
    const bus = await connect(nats.url);
    await bus.createBuckets();
  });
  afterEach(async () => {
    for (const p of proxies) p.heal();
    await Promise.all(leases.map((l) => l.stop()));
    await Promise.all(buses.map((b) => b.close()));
    await Promise.all(proxies.map((p) => p.close()));
    await nats.stop();
  });

  async function connect(url: string): Promise<Bus> {
    const bus = await connectBus({ name: 'spec', servers: [url] });
    buses.push(bus);
    return bus;
  }
  async function proxied(): Promise<{ bus: Bus; proxy: TestProxy }> {
    const proxy = await startProxy(nats.url);
    proxies.push(proxy);
    return { bus: await connect(proxy.url), proxy };
  }
  function contend(bus: Bus, holder: string, ttlMs: number, name = 'spec'): Lease {
    const lease = new Lease(bus, { name, holder, ttlMs });
    leases.push(lease);
    lease.start();
    return lease;
  }

  const revision = async (): Promise<number> =>
    (await (buses[0] as Bus).bucket<LeaseRecord>('leases').get('spec'))?.revision ?? 0;
  /** Until the key was written so many times more: each renewal is one. */
  async function renewed(times: number): Promise<void> {
    const from = await revision();
    while ((await revision()) < from + times) await passed(20);
  }

  it('is held by one, and passes to the other at once when it is given up', async () => {
    const a = contend(await connect(nats.url), 'a', 3000);
    const first = await a.whenHeld();
    const b = contend(await connect(nats.url), 'b', 3000);
    await renewed(3);
    expect([a.held, b.held]).toEqual([true, false]);
    expect(() => b.check()).toThrow(/not held/);
    expect(a.validUntil > process.hrtime.bigint()).toBe(true);
    const start = performance.now();
    await a.stop();
    expect(a.held).toBe(false);
    expect(a.validUntil).toBe(0n);
    expect(await b.whenHeld()).toBeGreaterThan(first);
    // One that is not given up is free for others only after 1.25 × 3 s.
    expect(performance.now() - start).toBeLessThan(3000);
  });

  it('is a warning where it is lost, and nobody’s news where it is given up', async () => {
    const lines: string[] = [];
    const say = (level: string) => (_facts: object, line: string) => lines.push(`${level} ${line}`);
    const log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
    const bus = await connectBus({ name: 'spec', servers: [nats.url], log });
    buses.push(bus);
    const lease = contend(bus, 'a', 3000);
    const token = await lease.whenHeld();
    lease.raise(token);
    expect(lines.filter((line) => line.startsWith('warn lease'))).toEqual(['warn lease lost']);
    await lease.whenHeld();
    lines.length = 0;
    await lease.stop();
    expect(lines).toEqual(['debug lease given up']);
  });

  it('gives higher tokens also after its key was forgotten', async () => {
    const bus = await connect(nats.url);
    const a = contend(bus, 'a', 1000, 'job.1');
    const first = await a.whenHeld();
    await a.stop({ forget: true });
    expect(await bus.bucket<LeaseRecord>('leases').get('job.1')).toBeUndefined();
    expect(await contend(bus, 'b', 1000, 'job.1').whenHeld()).toBeGreaterThan(first);
  });

  it('is a task that moves, for who holds it and for who waits: what a watchdog asks', async () => {
    const buses = [await connect(nats.url), await connect(nats.url)];
    const contenders = buses.map((bus, i) => contend(bus, `h${i}`, 200));
    await Promise.race(contenders.map((l) => l.whenHeld()));
    // Longer than a task may stand still that has this time to live.
    await passed(2_500);
    expect(buses.flatMap((bus) => bus.pulses.stalled())).toEqual([]);
  });

  it('shows who holds what', async () => {
    const bus = await connect(nats.url);
    const leases = await bus.bucket<LeaseRecord>('leases').view();
    const viewer = Lease.view(leases, bus.clock);
    const token = await contend(bus, 'a', 1000).whenHeld();
    await until(() => viewer.list().length === 1);
    await until(() => viewer.list()[0]?.token === token);
    expect(viewer.list()[0]).toMatchObject({ name: 'spec', holder: 'a' });
    expect(viewer.list()[0]?.ageMs).toBeLessThan(5000);
    viewer.close();
    await leases.close();
  });

  it('survives a renewal whose acknowledgement is lost: same token, no gap', async () => {
    const { bus, proxy } = await proxied();
    const a = contend(bus, 'a', 8000);
    const token = await a.whenHeld();
    const events: string[] = [];
    a.on((e) => events.push(e));
    proxy.mute();
    // The renewal is carried out by the server, and its answer dies with the connection.
    await renewed(1);
    proxy.cut();
    proxy.heal();
    await renewed(2);
    expect(events).toEqual([]);
    expect(a.check()).toBe(token);
  });

  it('ends by its own deadline when NATS is out of reach, before another may take it', async () => {
    const { bus, proxy } = await proxied();
    const a = contend(bus, 'a', 3000);
    await a.whenHeld();
    const b = contend(await connect(nats.url), 'b', 3000);
    const endedFirst = new Promise<boolean>((resolve) => void b.on(() => resolve(!a.held)));
    proxy.freeze();
    expect(await endedFirst).toBe(true);
    const token = b.check();
    proxy.heal();
    await renewed(2);
    expect([a.held, b.held]).toEqual([false, true]);
    expect(b.check()).toBe(token);
  });

  it('is judged at its use: who stood still finds it ended before any of its timers has run', async () => {
    const a = contend(await connect(nats.url), 'a', 1000);
    await a.whenHeld();
    // Nothing of this process runs meanwhile, as where it is stopped.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    expect(a.held).toBe(false);
    expect(() => a.check()).toThrow(/not held/);
  });

  it('goes on after nats-server was killed and started again, with one holder and growing tokens', async () => {
    const all = await Promise.all(['a', 'b', 'c'].map(async (h) => contend(await connect(nats.url), h, 1500)));
    await until(() => all.some((l) => l.held));
    const before = Math.max(...all.map((l) => l.token));
    await nats.kill();
    await until(() => all.every((l) => !l.held));
    await nats.restart();
    await until(() => all.some((l) => l.held));
    expect(all.filter((l) => l.held)).toHaveLength(1);
    expect(Math.max(...all.map((l) => l.token))).toBeGreaterThan(before);
  });

  it('keeps its holder through a restart of nats-server that is shorter than the lease', async () => {
    const a = contend(await connect(nats.url), 'a', 8000);
    const token = await a.whenHeld();
    const events: string[] = [];
    a.on((e) => events.push(e));
    await nats.restart();
    await renewed(2);
    expect(events).toEqual([]);
    expect(a.check()).toBe(token);
  });

  const CHANGES = runs(50);
  it(`never has two valid holders, and tokens only grow, over ${CHANGES} forced changes among five contenders, MUSTER_SEED=${SEED}`, async () => {
    const random = seeded(SEED);
    const TTL = 300;
    const runners = await Promise.all(
      Array.from({ length: 5 }, async (_, i) => {
        const { bus, proxy } = await proxied();
        return { name: `c${i}`, bus, proxy, lease: contend(bus, `c${i}`, TTL) };
      }),
    );
    let changes = 0;
    let highest = 0;
    const violations: string[] = [];
    const look = (): void => {
      const holders = runners.filter((r) => r.lease.held);
      if (holders.length > 1) violations.push(`${holders.map((r) => r.name).join(' and ')} hold it`);
    };
    const listen = (r: (typeof runners)[number]): void =>
      void r.lease.on((event, token) => {
        look();
        if (event !== 'acquired') return;
        if (token <= highest) violations.push(`${r.name} got token ${token} after ${highest}`);
        highest = Math.max(highest, token);
        changes++;
      });
    runners.forEach(listen);
    const sampler = setInterval(look, 1);
    const faults: Record<string, number> = {};
    try {
      while (changes < CHANGES) {
        await until(() => runners.some((r) => r.lease.held));
        const r = runners.find((x) => x.lease.held);
        if (r === undefined) continue;
        const before = changes;
        const dice = random();
        const fault = dice < 0.7 ? 'release' : dice < 0.8 ? 'freeze' : dice < 0.9 ? 'mute' : 'cut';
        faults[fault] = (faults[fault] ?? 0) + 1;
        if (fault === 'release') {
          await r.lease.stop();
          r.lease = contend(r.bus, r.name, TTL);
          listen(r);
        } else if (fault === 'cut') r.proxy.cut();
        else {
          r.proxy[fault]();
          await Promise.race([until(() => changes > before), passed(TTL * 3)]);
          // What was held back arrives late, or is lost with its connection.
          if (random() < 0.3) r.proxy.cut();
          r.proxy.heal();
        }
      }
    } finally {
      clearInterval(sampler);
    }
    process.stdout.write(`lease contention: ${changes} changes, highest token ${highest}, ${JSON.stringify(faults)}\n`);
    expect(violations).toEqual([]);
  });

  describe('with a holder in a process of its own', () => {
    let dir: string;
    let holder: Daemon | undefined;
    beforeEach(async () => {
      dir = await mkdtemp(join(tmpdir(), 'muster-lease-'));
    });
    afterEach(async () => {
      holder?.kill('SIGKILL');
      await rm(dir, { recursive: true, force: true });
    });

    /** Runs a command under the guard with the lease's deadline, extended by each renewal. */
    async function startHolder(ttlMs: number): Promise<{ lines: string[]; process: Daemon; command: number }> {
      const dist = join(process.cwd(), 'dist/libs/bus/src');
      const file = join(dir, 'holder.mjs');
      await writeFile(
        file,
        `import { connectBus, Lease, runGuarded } from '${dist}/index.js';
         const bus = await connectBus({ name: 'holder', servers: ['${nats.url}'] });
         const lease = new Lease(bus, { name: 'spec', holder: 'child', ttlMs: ${ttlMs} });
         lease.on((e, token) => console.log(e, token));
         lease.start();
         await lease.whenHeld();
         const run = runGuarded({ command: 'sh', args: ['-c', 'echo $$; exec sleep 300'], deadlineNs: lease.validUntil,
           onLine: (l) => console.log('command', l) });
         setInterval(() => { console.log('held', lease.held); if (lease.held) run.extend(lease.validUntil); }, 50);
         run.done.then((r) => console.log('ended', JSON.stringify(r)));`,
      );
      const child = daemon(process.execPath, [file], { stdio: ['ignore', 'pipe', 'inherit'] });
      holder = child;
      const lines: string[] = [];
      createInterface({ input: child.stdout }).on('line', (l) => lines.push(l));
      await until(() => lines.some((l) => l.startsWith('command')));
      const command = Number(lines.find((l) => l.startsWith('command'))?.split(' ')[1]);
      return { lines, process: child, command };
    }
    const alive = (pid: number): boolean => {
      try {
        return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      } catch {
        return false;
      }
    };

    it('its command is dead before another may act, while the holder is stopped; it finds its lease gone on waking', async () => {
      const child = await startHolder(3000);
      // Longer than the first deadline: each renewal moves it.
      await renewed(4);
      expect(alive(child.command)).toBe(true);
      const b = contend(await connect(nats.url), 'b', 3000);
      const wasAlive = new Promise<boolean>((resolve) => void b.on(() => resolve(alive(child.command))));
      child.process.kill('SIGSTOP');
      expect(await wasAlive).toBe(false);
      const seen = child.lines.length;
      child.process.kill('SIGCONT');
      for (const end of ['ended', 'lost']) await until(() => child.lines.slice(seen).some((l) => l.startsWith(end)));
      const after = child.lines.slice(seen);
      expect(after.filter((l) => l === 'held true')).toEqual([]);
      expect(after.find((l) => l.startsWith('ended'))).toContain('"timedOut":true');
      expect(b.held).toBe(true);
    });
  });
});
