import { alarmKey, BEACON_PERIOD_MS, type AlarmRecord, type NodeRecord } from '#contracts';
import { detectionAlarms } from '../../apps/inventory/src/plan/alarms/detection-alarms.js';
import type { WantedAlarm } from '../../apps/inventory/src/alarms/keep-alarms.js';
import type { SimulatedFleet } from './simulated-fleet.js';

/** An alarm that was raised, was changed, or is over. */
export interface AlarmChange {
  at: number;
  /** `CODE=SUBJECT` */
  alarm: string;
  is: 'raised' | 'changed' | 'over';
  message: string;
}

/** What inventory makes of the beacons and verdicts of a simulated fleet, with its own decider; once a second. */
export class SimAlarms {
  readonly changes: AlarmChange[] = [];
  private readonly standing = new Map<string, WantedAlarm>();
  private readonly degradedSince = new Map<string, number>();

  constructor(private readonly fleet: SimulatedFleet) {}

  /** `CODE=SUBJECT` of those that stand. */
  get active(): string[] {
    return [...this.standing.keys()].sort();
  }

  run(until: number): this {
    while (this.fleet.now < until) {
      this.fleet.run(Math.min(until, this.fleet.now + BEACON_PERIOD_MS));
      this.check();
    }
    return this;
  }

  private check(): void {
    const { fleet } = this;
    const at = fleet.now;
    const nodes = fleet.names.map((name) => this.recordOf(name));
    for (const { name, verdict } of nodes)
      if (verdict?.verdict !== 'DEGRADED') this.degradedSince.delete(name);
      else if (!this.degradedSince.has(name)) this.degradedSince.set(name, at);
    const wanted = detectionAlarms({
      silentForMs: 0,
      beacon: {
        fresh: true,
        sighted: true,
        members: nodes.length,
        reporters: nodes.length,
        conditions: fleet.conditions(),
      },
      noQuorumForMs: 0,
      nodes,
      degradedForMs: (name) => at - (this.degradedSince.get(name) ?? at),
      active: this.standing as ReadonlyMap<string, Pick<AlarmRecord, 'code' | 'subject' | 'severity' | 'message'>>,
    });
    this.keep(wanted, at);
  }

  private keep(wanted: readonly WantedAlarm[], at: number): void {
    const keys = new Set(wanted.map((a) => alarmKey(a.code, a.subject)));
    for (const a of wanted) {
      const alarm = alarmKey(a.code, a.subject);
      const was = this.standing.get(alarm);
      if (was?.message === a.message && was.severity === a.severity) continue;
      this.changes.push({ at, alarm, is: was ? 'changed' : 'raised', message: a.message });
      this.standing.set(alarm, a);
    }
    for (const [alarm, { message }] of this.standing)
      if (!keys.has(alarm)) {
        this.changes.push({ at, alarm, is: 'over', message });
        this.standing.delete(alarm);
      }
  }

  private recordOf(name: string): NodeRecord {
    const { verdict, networks } = this.fleet.judgementOf(name);
    const on = Object.fromEntries(this.fleet.history.networks.map((n) => [n, { address: '127.0.0.1' }]));
    return {
      name,
      networks: on,
      vars: {},
      enrolled: true,
      verdict: { verdict, networks, epoch: 1, seq: 1, at: 1 },
    } as unknown as NodeRecord;
  }
}
