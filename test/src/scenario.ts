import type { Fleet } from '../../lab/src/fleet/fleet.js';

/** Fault → what must be seen, on a running fleet that is whole before and is healed after. */
export interface Scenario {
  /** Letter and number: D detection, F fencing, O operations, R return, V recovery. */
  name: string;
  /** Other names that it goes by: what it shows beside, of the same fault. Each of them chooses it. */
  also?: readonly string[];
  title: string;
  /** It cuts cables or mounts something, which only a host with namespaces of its own can. */
  needsNetns?: true;
  /** Programs that the set-up for `npm test` does not bring, and the command that does. */
  tools?: { names: readonly string[]; install: string };
  /** It discovers a host that Muster has not been told of. */
  needsBare?: true;
  /** Hosts of a fleet that it needs for itself. @default on one of 5, with others */
  nodes?: number;
  /** Simulated peers beside its hosts, with which they make up a fleet that this machine could not carry. */
  peers?: number;
  /** Control hosts of its fleet. @default 1 */
  controls?: 3;
  /** Its control hosts keep their stores on disks of their own, which can lose their power. */
  storeDisks?: true;
  /** Its fleet's wall clocks can be set, which costs every process a little; it is on a fleet for that. */
  needsClocks?: true;
  /** It makes agents stand still itself: that they did is no sign of a machine without time for them. */
  standsStill?: true;
  /** It asserts a time that the mission gives: nothing may run beside it until it ends, or says that `timeIsTaken`. */
  timed?: true;
  /** Rejects with what was seen instead. `say` prints a figure beside the result. */
  run(fleet: Fleet, say: (figure: string) => void, timeIsTaken: () => void): Promise<void>;
}

/** The machine did something else than the round asked for: it says nothing, and is repeated. */
export class VoidRound extends Error {}
