import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { daemon, type Daemon } from '#bus/testing/daemon.js';
import { MusterError } from '#contracts';
import { killAndWait, losePower } from './kill-and-wait.js';
import { on, plug, unplug, type Host } from './wires.js';

const PORT = 7946;
const LIMIT_MS = 60_000;

/** Of each agent, when a wait was in vain. */
const LAST_WORDS = 6;

interface Line {
  by: string;
  text: string;
  at: number;
}

/** Real Serf agents with their defaults, on hosts like those of our own agents. */
export class SerfFleet {
  private readonly agents = new Map<string, Daemon>();
  private readonly lookers = new Set<(line: Line) => void>();
  private readonly words = new Map<string, string[]>();

  private constructor(private readonly hosts: readonly Host[]) {}

  /** Resolves when everybody knows everybody. */
  static async start(hosts: readonly Host[]): Promise<SerfFleet> {
    const fleet = new SerfFleet(hosts);
    try {
      for (const host of fleet.hosts) await fleet.join(host);
      return fleet;
    } catch (e) {
      await fleet.stop();
      throw e;
    }
  }

  /**
   * ms, one per kill in turn: until the first of those who live says in its log, which is what `serf monitor` shows, that
   * it has failed. Handlers hear of it a second later: Serf waits whether there is more to tell.
   */
  async killInTurn(count: number): Promise<number[]> {
    const ms: number[] = [];
    for (let i = 0; i < count; i++) {
      const victim = this.hosts[i % this.hosts.length] as Host;
      // Over the time between two probes, as our own.
      await pause((1000 * i) / count);
      const failed = this.hear(`EventMemberFailed: ${victim.netns} `, this.living(victim));
      const killedAt = performance.now();
      // The victim stays away until all have said it: whoever only suspects it then takes it back without a word.
      const [said] = await Promise.all([failed, this.die(victim)]);
      ms.push(Math.min(...said.map(({ at }) => at)) - killedAt);
      await plug(victim);
      await this.join(victim);
    }
    return ms;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.agents.keys()].map((name) => this.kill(name)));
  }

  private living(but: Host): Host[] {
    return this.hosts.filter((host) => host !== but && this.agents.has(host.netns));
  }

  /** Resolves when each of the others has said that it is there. */
  private async join(host: Host): Promise<void> {
    const others = this.living(host);
    const known = this.hear(`EventMemberJoin: ${host.netns} `, others);
    const runs = this.hear('Serf agent running!', [host]);
    const first = others[0];
    const [command, args] = on(
      host,
      ...['serf', 'agent', '-node', host.netns, '-bind', `${host.addresses.management}:${PORT}`],
      ...(first === undefined ? [] : ['-join', `${first.addresses.management}:${PORT}`]),
    );
    const agent = daemon(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.agents.set(host.netns, agent);
    for (const stream of [agent.stdout, agent.stderr]) this.follow(host.netns, stream);
    await Promise.all([runs, known]);
  }

  private follow(by: string, stream: NodeJS.ReadableStream): void {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      const at = performance.now();
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      const words = [...(this.words.get(by) ?? []), ...lines.map((text) => text.trim()).filter((text) => text !== '')];
      this.words.set(by, words.slice(-LAST_WORDS));
      for (const text of lines) for (const look of [...this.lookers]) look({ by, text, at });
    });
  }

  /** The first line of this text that each of them says from now on. TIMEOUT names those who did not, and what they said. */
  private hear(text: string, by: readonly Host[]): Promise<Line[]> {
    const missing = new Set(by.map(({ netns }) => netns));
    const heard: Line[] = [];
    if (missing.size === 0) return Promise.resolve(heard);
    return new Promise((resolve, reject) => {
      const look = (line: Line): void => {
        if (!line.text.includes(text) || !missing.delete(line.by)) return;
        heard.push(line);
        if (missing.size > 0) return;
        clearTimeout(timer);
        this.lookers.delete(look);
        resolve(heard);
      };
      const timer = setTimeout(() => {
        this.lookers.delete(look);
        const silent = [...missing].map((name) => `\n  ${name} said: ${(this.words.get(name) ?? []).join('\n    ')}`);
        const who = `${missing.size} of ${by.length} serf agents`;
        reject(new MusterError('TIMEOUT', `waited ${LIMIT_MS / 1000} s for ${who} to say "${text}"${silent.join('')}`));
      }, LIMIT_MS);
      this.lookers.add(look);
    });
  }

  private async die(host: Host): Promise<void> {
    await losePower(this.take(host.netns), () => unplug(host));
  }

  private async kill(name: string): Promise<void> {
    const agent = this.take(name);
    if (agent !== undefined) await killAndWait(agent);
  }

  /** Whoever takes it ends it. */
  private take(name: string): Daemon | undefined {
    const agent = this.agents.get(name);
    this.agents.delete(name);
    return agent;
  }
}
