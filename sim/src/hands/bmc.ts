import type { Dice } from '#contracts/testing/dice.js';
import type { PowerVerb } from '#contracts';
import { NS_PER_MS, type VirtualTime } from '../time/virtual-time.js';
import type { Chassis } from './chassis.js';

/** How a BMC is, until it is something else. */
export type BmcMood =
  /** Answers in 20–120 ms; what it is told is done up to 0.5 s later. */
  | 'well'
  /** Takes 1–5 s for each command. */
  | 'slow'
  /** Takes what it is told at once, and does it 3–8 s later. */
  | 'lagging'
  /** Does what it is told, and does not answer. */
  | 'mute'
  /** Says that it did, and does nothing. */
  | 'lying'
  /** Refuses to switch anything, and says so. */
  | 'refusing'
  /** Refuses to switch off what is off, as an error; what else it is told it does at once. */
  | 'picky'
  /** Answers every read with an error. */
  | 'unreadable'
  /** Does and answers all that it is asked, but who it is. */
  | 'nameless'
  /** Neither hears nor answers. */
  | 'dead';

export type BmcAnswer = { ok: true; power?: 'on' | 'off' } | { ok: false; code: 'BMC_REFUSED' };

/** What it does with a command is done even where nobody waits for its answer any more. */
export class Bmc {
  mood: BmcMood = 'well';
  /** It says which machine's it is. */
  tellsGuid = false;
  /** ms that a command takes, whatever the mood; undefined: by the mood. */
  takesMs: number | undefined;
  /** The system is asked to shut down; undefined: none listens. */
  shutsDown: (() => void) | undefined;
  /** The same for the opening of a session. */
  opensMs: number | undefined;

  constructor(
    readonly chassis: Chassis,
    private readonly time: VirtualTime,
    private readonly dice: Dice,
    /** It changed the power, by a command that had left its sender then. */
    private readonly switched: (on: boolean, sentMs: number, by: string) => void,
  ) {}

  /** What opening a session takes, ms: only then the command is sent. */
  sessionMs(): number {
    if (this.opensMs !== undefined) return this.opensMs;
    return this.mood === 'slow' ? this.between(200, 5_500) : this.between(5, 40);
  }

  /** A command has arrived. @param answer called when the answer leaves; never, where there is none */
  hears(verb: PowerVerb, by: string, answer: (a: BmcAnswer) => void): void {
    if (this.mood === 'dead') return;
    const { mood } = this;
    const sentMs = this.time.nowMs;
    const takes = this.takesMs ?? (mood === 'slow' ? this.between(1_000, 5_000) : this.between(20, 120));
    this.after(takes, `bmc ${this.chassis.node} ${verb}`, () => {
      if (this.mood === 'dead') return;
      if (verb === 'status') {
        if (mood === 'mute') return;
        answer(mood === 'unreadable' ? { ok: false, code: 'BMC_REFUSED' } : { ok: true, power: this.power() });
        return;
      }
      if (mood === 'refusing' || (mood === 'picky' && verb === 'off' && !this.chassis.on))
        return answer({ ok: false, code: 'BMC_REFUSED' });
      if (verb === 'soft') {
        if (mood !== 'lying') this.shutsDown?.();
      } else if (mood !== 'lying') this.carryOut(verb, by, mood, sentMs);
      if (mood !== 'mute') answer({ ok: true });
    });
  }

  /** It has taken an `on` that it has not carried out yet. */
  get owesOn(): boolean {
    return this.owed > 0;
  }
  private owed = 0;

  private carryOut(verb: 'on' | 'off', by: string, mood: BmcMood, sentMs: number): void {
    const lag = mood === 'lagging' ? this.between(3_000, 8_000) : this.between(0, 500);
    if (verb === 'on') this.owed++;
    this.after(lag, `chassis ${this.chassis.node} ${verb}`, () => {
      if (verb === 'on') this.owed--;
      if (this.chassis.on === (verb === 'on')) return;
      this.chassis.switch(verb === 'on', by);
      this.switched(verb === 'on', sentMs, by);
    });
  }

  private power(): 'on' | 'off' {
    return this.chassis.on ? 'on' : 'off';
  }

  private between(least: number, most: number): number {
    return least + this.dice.roll() * (most - least);
  }

  private after(ms: number, label: string, fn: () => void): void {
    this.time.schedule(ms * NS_PER_MS, label, fn);
  }
}
