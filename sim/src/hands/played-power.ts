import type { ErrorCode, PowerDevice, PowerVerb } from '#contracts';
import type { Dice } from '#contracts/testing/dice.js';
import type { Life } from '../process/life.js';
import type { VirtualTime } from '../time/virtual-time.js';
import { NS_PER_MS } from '../time/virtual-time.js';
import type { Bmc, BmcAnswer } from './bmc.js';
import type { Chassis } from './chassis.js';
import type { DeviceIdentity, PowerDeadline } from '../../../apps/fencer/src/drivers/power-driver.js';
import type { IdentifyingPower, TimedOutcome } from '../../../apps/fencer/src/power/power-control.js';
import { runUnderGuard } from './played-guard.js';

/** A command has left a fencer's host, on its way to a BMC. */
export interface SentCommand {
  fencer: string;
  device: PowerDevice;
  verb: PowerVerb;
  /** When it was asked for, virtual ms. */
  begunMs: number;
  /** Its deadline as of now, virtual ms. */
  deadlineMs: number;
  /** The machine whose power it switches. */
  machine: string;
}

/** A read, as its fencer has it. */
export interface ReadOutcome {
  told: 'on' | 'off' | 'unknown';
  /** The truth when the BMC answered; false where it did not. */
  wasOff: boolean;
  /** When the BMC answered, virtual ms. */
  atMs: number;
}

export interface PlayedPowerParts {
  time: VirtualTime;
  life: Life;
  dice: Dice;
  /** Whose cable it is: it may be another machine's. */
  bmcOf: (device: PowerDevice) => Bmc;
  /** The machine that it is to be of. */
  ownOf: (device: PowerDevice) => Chassis;
  /** This host cannot start a process, or the tool is gone. */
  cannotStart: () => boolean;
  sent: (c: SentCommand) => void;
  /** The guard has ended one, or refused it. */
  cut: () => void;
  /** The outcome of a read is handed back. */
  read: (device: PowerDevice, outcome: ReadOutcome) => void;
  /** It answers, and does not say whose it is; asked at `startedMs`, virtual ms. */
  unsaid: (device: PowerDevice, startedMs: number) => void;
  /** It is the machine's own, and has said so; asked at `startedMs`, virtual ms. */
  identified: (device: PowerDevice, startedMs: number) => void;
  /** It has said that it is another machine's. */
  denied: (device: PowerDevice) => void;
}

/** ipmitool under the guard, as one fencer has it: it opens a session, gives its command, waits for the answer. */
export class PlayedPower implements IdentifyingPower {
  constructor(private readonly p: PlayedPowerParts) {}

  run(device: PowerDevice, verb: PowerVerb, deadline: PowerDeadline, signal?: AbortSignal): Promise<TimedOutcome> {
    return this.p.life.call(`power.${verb} ${device.id}`, async () => {
      const seen: { wasOff: boolean; atMs: number } = { wasOff: false, atMs: this.p.time.nowMs };
      const outcome = await this.command(device, verb, deadline, signal, seen);
      if (verb === 'status') this.p.read(device, { ...seen, told: outcome.power ?? 'unknown' });
      return outcome;
    });
  }

  /** Of those that tell nothing of themselves it was found out by a drill what they are. */
  identify(device: PowerDevice, o: { deadline: PowerDeadline; signal?: AbortSignal }): Promise<DeviceIdentity> {
    return this.p.life.call(`power.identify ${device.id}`, async () => {
      const startedMs = this.p.time.nowMs;
      const seen = { wasOff: false, atMs: startedMs };
      const {
        power,
        code = 'BMC_TIMEOUT',
        detail = '',
      } = await this.command(device, 'status', o.deadline, o.signal, seen);
      const bmc = this.p.bmcOf(device);
      if (power !== 'on' && power !== 'off') {
        if (bmc.mood === 'unreadable') this.p.unsaid(device, startedMs);
        return { code, detail };
      }
      if (bmc.mood === 'nameless' || !bmc.tellsGuid) this.p.unsaid(device, startedMs);
      if (bmc.mood === 'nameless') return { code: 'BMC_REFUSED', detail: 'the BMC refused it' };
      if (!bmc.tellsGuid) return { seen: {} };
      if (bmc.chassis === this.p.ownOf(device)) this.p.identified(device, startedMs);
      else this.p.denied(device);
      return { seen: { guid: bmc.chassis.guid } };
    });
  }

  private async command(
    device: PowerDevice,
    verb: PowerVerb,
    deadline: PowerDeadline,
    signal: AbortSignal | undefined,
    seen: { wasOff: boolean; atMs: number },
  ): Promise<TimedOutcome> {
    const { time, life, dice } = this.p;
    const begun = life.clock.monotonicMs();
    const begunMs = time.nowMs;
    let answer: BmcAnswer | undefined;
    const failed = (code: ErrorCode, detail: string): TimedOutcome => ({
      ok: false,
      power: 'unknown',
      code,
      detail,
      tookMs: took(),
    });
    const took = (): number => Math.round(life.clock.monotonicMs() - begun);
    if (this.p.cannotStart()) return failed('DRIVER_UNAVAILABLE', 'the guard could not be started: spawn EAGAIN');
    const guardMs = 30 + dice.roll() * 50;
    const how = await runUnderGuard(time, life, {
      name: `${life.process} ${verb} ${device.id}`,
      untilNs: () => deadline.atNs(),
      signal,
      over: (how) => {
        if (how !== 'exit') this.p.cut();
      },
      guardMs,
      startMs: guardMs + this.p.bmcOf(device).sessionMs(),
      orphanMs: dice.chance(0.5) ? 0 : dice.roll() * 6_000,
      begin: (exit) => {
        const deadlineMs = life.clock.virtualMs(deadline.atNs());
        const bmc = this.p.bmcOf(device);
        this.p.sent({ fencer: life.process, device, verb, begunMs, deadlineMs, machine: bmc.chassis.node });
        bmc.hears(verb, life.process, (a) => {
          answer = a;
          seen.wasOff = !this.p.ownOf(device).on;
          seen.atMs = time.nowMs;
          time.schedule((1 + dice.roll() * 5) * NS_PER_MS, `${life.process} hears of ${device.id}`, exit);
        });
        life.act(`power.${verb} is under way`, () => undefined);
      },
    });
    if (how === 'refused') return failed('DEADLINE_PASSED', 'the deadline had passed before it was begun');
    if (how === 'killed') return failed('COMMAND_FAILED', 'it was ended');
    if (how === 'deadline' || answer === undefined) return failed('BMC_TIMEOUT', 'the BMC did not answer in time');
    if (!answer.ok) return failed(answer.code, 'the BMC refused it');
    return { ok: true, ...(answer.power !== undefined && { power: answer.power }), tookMs: took() };
  }
}
