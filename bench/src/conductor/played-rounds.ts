import { MusterError } from '#contracts';
import { quietFleet } from '../../../sim/src/fleet/fleet-history.js';
import { FleetWorld } from '../../../sim/src/fleet/fleet-world.js';
import { RoundMeter } from './round-meter.js';

export interface PlayedFleetSize {
  nodes: number;
  /** Workloads of each node. */
  perNode: number;
  /** Virtual ms that it is played for, once all is settled. */
  forMs: number;
}

/** Each program of the fleet has begun, and every node is in service, ms. */
const SETTLED_MS = 15_000;

/**
 * Rounds of a conductor over a fleet in which nothing happens, in virtual time: the product's own conductor with all of its
 * tasks, on records and reports as the simulation of the whole plane makes them. Nothing else runs while a round does, but
 * what comes in meanwhile. The fleet takes minutes to be made.
 *
 * @returns the processor time of each, ms
 * @throws MusterError COMMAND_FAILED where a rule of the simulation was broken, or no whole round came
 */
export async function playedRounds({ nodes, perNode, forMs }: PlayedFleetSize): Promise<number[]> {
  const meter = new RoundMeter(() => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  });
  const workloads: Record<string, string> = {};
  for (let n = 1; n <= nodes; n++) for (let w = 1; w <= perNode; w++) workloads[`w${n}-${w}`] = `n-${n}`;
  const history = quietFleet('busy', 1, { size: nodes, workloads, quietFrom: SETTLED_MS + forMs });
  const { violations } = await new FleetWorld(history, { run: (task) => meter.watch(task) }).run();
  const [broken] = violations;
  if (broken !== undefined) throw new MusterError('COMMAND_FAILED', `the fleet breaks ${broken.rule}: ${broken.what}`);
  // In the first ones much is still to be done.
  const settled = meter.rounds.slice(Math.floor(meter.rounds.length / 2));
  if (settled.length === 0) throw new MusterError('COMMAND_FAILED', 'no round had each task once');
  return settled;
}
