import type { Bus } from '#bus';
import { identityBasis, MusterError, type PowerVerb } from '#contracts';
import { guidIsEnough } from '#domain/power/whose-device.js';
import { bmcAddress } from '../drivers/power-driver.js';
import { Urgency, type BmcQueue } from '../power/bmc-queue.js';
import type { IdentifyingPower } from '../power/power-control.js';
import type { Attempt } from './attempt.js';
import type { LeaseTerm } from './lease-term.js';
import type { RecordedCommand, RecordedCommands } from './recorded-commands.js';
import type { Snapshot } from './snapshot.js';

/** `status` and `identify` are questions: they change neither the power nor the record. */
export interface DeviceCommand extends Omit<RecordedCommand, 'verb'> {
  verb: PowerVerb | 'identify';
}

export interface DeviceCommandsParts {
  bus: Bus;
  /** Whose devices they are. */
  node: string;
  term: LeaseTerm;
  recorded: RecordedCommands;
  power: IdentifyingPower;
  queue: BmcQueue;
  /** The present one, which is another where a new one has begun while a command waited for its turn. */
  attempt: () => Attempt;
  /** Ends waiting for a turn, and kills a command that runs. */
  signal: AbortSignal;
  /** Told whenever one of them has ended. */
  onEnd: () => void;
}

/**
 * The commands to one node's power devices, which run beside the loop that decides on them: each waits for its turn at
 * its BMC, and what was read is kept with the attempt.
 */
export class DeviceCommands {
  private readonly busyDevices = new Set<string>();
  private readonly running = new Set<Promise<void>>();
  private wasReplaced = false;

  constructor(private readonly parts: DeviceCommandsParts) {}

  /** Devices with a command under way, or waiting for its turn. */
  get busy(): string[] {
    return [...this.busyDevices];
  }

  /** A later leader has written in the record. */
  get replaced(): boolean {
    return this.wasReplaced;
  }

  /** Resolves when those that are under way now have ended. Never rejects. */
  ended(): Promise<unknown> {
    return Promise.all(this.running);
  }

  /** Starts a command. It never throws: what went wrong is logged, and decided anew. */
  start(c: DeviceCommand, s: Snapshot): void {
    const { bus, node } = this.parts;
    this.busyDevices.add(c.device.id);
    const task: Promise<void> = this.carryOut(c, s)
      .catch((error: unknown) => {
        const { code, message: reason } = MusterError.from(error);
        this.wasReplaced ||= code === 'STALE_TOKEN';
        if (code !== 'REVISION_CONFLICT' && code !== 'LEASE_LOST')
          bus.log.warn(
            { node, device: c.device.id, code, reason },
            `command not given, and decided anew: where that lasts, see muster incident get ${node}`,
          );
      })
      .finally(() => {
        this.busyDevices.delete(c.device.id);
        this.running.delete(task);
        this.parts.onEnd();
      });
    this.running.add(task);
  }

  private async carryOut(c: DeviceCommand, s: Snapshot): Promise<void> {
    const { queue, recorded, signal } = this.parts;
    const urgency = c.verb === 'off' ? Urgency.off : Urgency.proof;
    const turn = await queue.turn(bmcAddress(c.device), urgency, signal);
    if (turn === undefined) return;
    try {
      const attempt = this.parts.attempt();
      if (c.verb === 'status') await this.read(c, s, attempt);
      else if (c.verb === 'identify') await this.identify(c, s, attempt);
      else await recorded.give({ ...c, verb: c.verb }, s, attempt);
    } finally {
      turn.end();
    }
  }

  private async read({ device, limitMs }: DeviceCommand, s: Snapshot, attempt: Attempt): Promise<void> {
    const { bus, term, power, signal } = this.parts;
    const deadline = term.deadline(limitMs);
    term.check();
    const at = bus.clock.wallMs();
    const startedMs = bus.clock.monotonicMs();
    const outcome = await power.run(device, 'status', deadline, signal);
    attempt.reads.push({
      device: device.id,
      level: s.incident.level,
      power: outcome.power ?? 'unknown',
      ...(outcome.code === undefined ? {} : { code: outcome.code }),
      ...(outcome.detail === undefined ? {} : { detail: outcome.detail }),
      startedMs,
      endedMs: bus.clock.monotonicMs(),
      at,
    });
  }

  /** Who does the device say it is? */
  private async identify({ device, limitMs }: DeviceCommand, s: Snapshot, attempt: Attempt): Promise<void> {
    const { bus, term, power, signal } = this.parts;
    const deadline = term.deadline(limitMs);
    term.check();
    const startedMs = bus.clock.monotonicMs();
    const said = await power.identify(device, { deadline, quick: guidIsEnough(s.node ?? {}, device), signal });
    const before = attempt.identities.findLast((r) => r.device === device.id);
    attempt.identities.push({
      device: device.id,
      basis: identityBasis(device),
      ...(said.seen === undefined ? { code: said.code, detail: said.detail } : { seen: said.seen }),
      startedMs,
      endedMs: bus.clock.monotonicMs(),
    });
    if (said.seen === undefined && said.code !== before?.code)
      bus.log.info(
        { node: this.parts.node, device: device.id, code: said.code, reason: said.detail },
        'the power device did not say who it is',
      );
  }
}
