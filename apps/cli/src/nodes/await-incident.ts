import { phaseText, type IncidentPhase, type IncidentRecord } from '#contracts';
import { quietPhases } from '#domain/incident/phases.js';
import type { Run } from '../command/command.js';
import { watch } from '../command/watch.js';
import { Failure } from '../failure/failure.js';
import { story } from '../output/incident-story.js';

/** Nothing more happens until somebody does something. */
const STUCK: IncidentPhase[] = ['suppressed', 'failed'];

export const WAIT = [
  '--wait',
  'tell each step, until it is proven off and its work runs elsewhere; exit 1 if not',
] as const;

/** Tells the steps of a fencing as they are made. @throws Failure where it came to nothing */
export async function awaitIncident(run: Run, node: string, id: string): Promise<void> {
  const told = new Set<string>();
  const watched = {
    look: () => run.server.get<IncidentRecord>(`/v1/incidents/${encodeURIComponent(node)}`),
    kinds: 'incident',
    concerns: (data: Record<string, unknown>) => data['node'] === node,
    goesOn: `the incident of ${node} goes on; to look at it: muster incident get ${node}`,
  };
  const incident = await watch(run, watched, (now) => {
    if (now.id !== id) throw new Failure(`${node}: another incident has followed ${id}: muster incident get ${node}`);
    if (!run.print.forMachines) printSteps(run, now, told);
    return quietPhases.includes(now.phase) || STUCK.includes(now.phase);
  });
  await run.print.machine(incident, [incident.id]);
  const { phase } = incident;
  if (phase === 'suppressed')
    throw new Failure(
      `${node}: ${phaseText(incident)}: see muster incident get ${node}; what to do at each gate: muster manual gates`,
    );
  if (phase !== 'recovered' && phase !== 'closed')
    throw new Failure(`${node}: the fencing ended as ${phase}: muster incident get ${node}`);
}

function printSteps(run: Run, incident: IncidentRecord, told: Set<string>): void {
  for (const line of story(incident).filter((l) => l.startsWith(`${incident.node}: step: `))) {
    if (!told.has(line)) run.terminal.line(line);
    told.add(line);
  }
}
