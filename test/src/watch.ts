import { strict as assert } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  AlarmCode,
  AlarmView,
  ClusterSettings,
  DetectionSettings,
  PeerList,
  Report,
  StatusView,
  VerdictKind,
} from '#contracts';
import type { FeedEvent } from '../../lab/src/fleet/event-feed.js';
import type { Fleet } from '../../lab/src/fleet/fleet.js';
import { alarm, assertNoPowerWrites, hostRunning, nowNs } from './observations.js';

/** What is seen of a fleet from its beginning on: verdicts, alarms, and what the BMCs are told. */
export class Watch {
  readonly sinceNs = nowNs();
  readonly at = Date.now();
  readonly mark: number;

  constructor(private readonly fleet: Fleet) {
    this.mark = fleet.events.mark();
  }

  /** Verdicts on a node's host, or on all, in their order. */
  verdicts(host?: string): FeedEvent[] {
    const node = host === undefined ? undefined : this.fleet.nodeOf(host);
    return this.fleet.events.verdicts(this.mark, node);
  }

  verdict(host: string, kind: VerdictKind, timeoutMs = 15_000, from = this.mark): Promise<FeedEvent> {
    return this.fleet.events.verdict(this.fleet.nodeOf(host), kind, timeoutMs, from);
  }

  /** All of these hosts have been given this verdict since `from`. */
  async everyVerdict(hosts: readonly string[], kind: VerdictKind, timeoutMs = 15_000, from = this.mark): Promise<void> {
    await Promise.all(hosts.map((h) => this.verdict(h, kind, timeoutMs, from)));
  }

  /** None of these verdicts was ever given, on nobody. */
  never(...kinds: VerdictKind[]): void {
    const given = this.verdicts().filter((e) => kinds.includes(e.data['verdict'] as VerdictKind));
    assert.deepEqual(
      given.map((e) => `${e.key}: ${String(e.data['verdict'])}: ${String(e.data['reason'])}`),
      [],
    );
  }

  /** No BMC was told anything that changes power. */
  noPowerWrites(): Promise<void> {
    return assertNoPowerWrites(this.fleet, this.sinceNs);
  }

  /** ms from the beginning. */
  ms(e: FeedEvent): number {
    return (Number(e.arrivedNs) - this.sinceNs) / 1e6;
  }
}

export const hostNames = (fleet: Fleet): string[] => fleet.info.hosts.map((h) => h.name);

/** A host that carries no workload of the test. */
export async function idleHost(fleet: Fleet): Promise<string> {
  const busy = await hostRunning(fleet, 'w1');
  return hostNames(fleet)
    .filter((h) => h !== busy)
    .at(-1) as string;
}

/** Where a fault must last for something to be seen that must not follow, there is nothing to await. */
export const lasts = (ms: number): Promise<void> => pause(ms);

export const alarmRaised = (fleet: Fleet, code: AlarmCode, subject: string, timeoutMs = 20_000): Promise<AlarmView> =>
  fleet.until(`alarm ${code} on ${subject}`, () => alarm(fleet, code, subject), timeoutMs);

export const alarmCleared = (fleet: Fleet, code: AlarmCode, subject: string, timeoutMs = 20_000): Promise<unknown> =>
  fleet.until(
    `alarm ${code} on ${subject} to clear`,
    async () => ((await alarm(fleet, code, subject)) === undefined ? true : undefined),
    timeoutMs,
  );

/** Longer than any verdict would take in profile `lan`, ms. */
export const LONG_ENOUGH = 7_000;

/** Every node is UP again, by the registry; while the services find back to NATS nobody answers. */
export const allUp = (fleet: Fleet, timeoutMs = 30_000): Promise<unknown> =>
  fleet.until(
    'every node to be UP',
    () =>
      fleet.nodes().then(
        (nodes) => nodes.every((n) => n.verdict?.verdict === 'UP') || undefined,
        () => undefined,
      ),
    timeoutMs,
  );

export const status = (fleet: Fleet): Promise<StatusView> => fleet.api.get<StatusView>('/v1/status');

/** Runs `work` with another profile of detection, which reaches the agents while they run; then the former is back. */
export async function withProfile(
  fleet: Fleet,
  profile: DetectionSettings['profile'],
  work: (numbers: DetectionSettings) => Promise<void>,
): Promise<void> {
  const before = (await fleet.api.get<ClusterSettings>('/v1/settings')).detection.profile;
  const set = (name: string): Promise<ClusterSettings> =>
    fleet.api.request('PATCH', '/v1/settings', { detection: { profile: name } });
  const { detection } = await set(profile);
  try {
    await work(detection);
  } finally {
    await set(before);
  }
}

/** What the agent of a host tells on its own host, as far as it is needed here. */
export interface AgentStatus extends Report {
  list: PeerList | null;
  rejoin: { lost: string[] };
}

export async function agentStatus(fleet: Fleet, host: string): Promise<AgentStatus> {
  const { stdout } = await inHost(fleet, host, 'muster-agent', 'status', '--json');
  return JSON.parse(stdout) as AgentStatus;
}

/** While the agent starts there is nobody to ask. */
export const agentShows = <T>(
  fleet: Fleet,
  host: string,
  what: string,
  look: (s: AgentStatus) => T | undefined,
  timeoutMs: number,
): Promise<T> =>
  fleet.until(
    `the agent of ${host} to show ${what}`,
    () => agentStatus(fleet, host).then(look, () => undefined),
    timeoutMs,
  );

interface Done {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs a command in a host; rejects with its last words where it fails. */
export async function inHost(fleet: Fleet, host: string, ...argv: string[]): Promise<Done> {
  const done = await fleet.lab<Done & Record<string, unknown>>('exec', host, '--', ...argv);
  assert.equal(done.exitCode, 0, `${argv.join(' ')} on ${host}: ${done.stderr || done.stdout}`);
  return done;
}

/** As by `kill -9`: systemd starts it again. */
export const killAgent = (fleet: Fleet, host: string): Promise<unknown> =>
  inHost(fleet, host, 'systemctl', 'kill', '--signal=KILL', 'muster-agent.service');
