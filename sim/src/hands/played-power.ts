import type { ErrorCode, PowerDevice, PowerVerb } from '#contracts';
import type { Dice } from '#contracts/testing/dice.js';
import type { Life } from '../process/life.js';
import type { VirtualTime } from '../time/virtual-time.js';
import { NS_PER_MS } from '../time/virtual-time.js';
import type { Bmc, BmcAnswer } from './bmc.js';
import { runUnderGuard } from './played-guard.js';

/** A command has left a fencer's host, on its way to a BMC. */
export interface SentCommand {
  fencer: string;
  device: PowerDevice;
  verb: PowerVerb;
  atMs: number;
}

export interface Outcome {
  ok: boolean;
  power?: 'on' | 'off' | 'unknown';
  code?: ErrorCode;
  detail?: string;
  tookMs: number;
}

export interface PlayedPowerParts {
  time: VirtualTime;
  life: Life;
  dice: Dice;
  bmcOf: (device: PowerDevice) => Bmc;
  /** This host cannot start a process. */
  cannotFork: () => boolean;
  sent: (c: SentCommand) => void;
  /** A read was answered. */
  read: (c: SentCommand, power: 'on' | 'off') => void;
}

/** ipmitool under the guard, as one fencer has it: it opens a session, gives its command, waits for the answer. */
export class PlayedPower {
  constructor(private readonly p: PlayedPowerParts) {}

  run(device: PowerDevice, verb: PowerVerb, deadline: { atNs(): bigint }, signal?: AbortSignal): Promise<Outcome> {
    return this.p.life.call(`power.${verb} ${device.id}`, () => this.command(device, verb, deadline, signal));
  }

  private async command(
    device: PowerDevice,
    verb: PowerVerb,
    deadline: { atNs(): bigint },
    signal: AbortSignal | undefined,
  ): Promise<Outcome> {
    const { time, life, dice } = this.p;
    const begun = life.clock.monotonicMs();
    let answer: BmcAnswer | undefined;
    const failed = (code: ErrorCode, detail: string): Outcome => ({
      ok: false,
      power: 'unknown',
      code,
      detail,
      tookMs: took(),
    });
    const took = (): number => Math.round(life.clock.monotonicMs() - begun);
    if (this.p.cannotFork()) return failed('COMMAND_FAILED', 'the guard could not be started: spawn EAGAIN');
    const how = await runUnderGuard(time, life, {
      name: `${life.process} ${verb} ${device.id}`,
      untilNs: () => deadline.atNs(),
      signal,
      startMs: 30 + dice.roll() * 50 + this.p.bmcOf(device).sessionMs(),
      orphanMs: dice.chance(0.5) ? 0 : dice.roll() * 6_000,
      begin: (exit) => {
        const sent: SentCommand = { fencer: life.process, device, verb, atMs: time.nowMs };
        this.p.sent(sent);
        this.p.bmcOf(device).hears(verb, life.process, (a) => {
          answer = a;
          if (a.ok && a.power !== undefined) this.p.read({ ...sent, atMs: time.nowMs }, a.power);
          time.schedule((1 + dice.roll() * 5) * NS_PER_MS, `${life.process} hears of ${device.id}`, exit);
        });
      },
    });
    if (how === 'refused') return failed('DEADLINE_PASSED', 'the deadline had passed before it was begun');
    if (how === 'killed') return failed('COMMAND_FAILED', 'it was ended');
    if (how === 'deadline' || answer === undefined) return failed('BMC_TIMEOUT', 'the BMC did not answer in time');
    if (!answer.ok) return failed(answer.code, 'the BMC refused it');
    return { ok: true, ...(answer.power !== undefined && { power: answer.power }), tookMs: took() };
  }
}
