import type { Hold, JobRecord, Reservations } from '#contracts';

export const noReservations: Reservations = { held: {}, pending: {}, generation: 0 };

/** The job holds all of these nodes, and waits to be carried out. Who calls has made sure that none is held. */
export function reserve(r: Reservations, job: JobRecord, nodes: readonly string[]): Reservations {
  const generation = r.generation + 1;
  const hold: Hold = { job: job.id, kind: job.kind, generation, at: job.createdAt };
  if (job.hostGroup !== undefined) hold.hostGroup = job.hostGroup;
  return {
    generation,
    held: { ...r.held, ...Object.fromEntries(nodes.map((n) => [n, hold])) },
    pending: { ...r.pending, [job.id]: job },
  };
}

/** Nodes and record have followed; undefined: that is known already. */
export function carriedOut(r: Reservations, job: string): Reservations | undefined {
  if (r.pending[job] === undefined) return undefined;
  const { [job]: _done, ...pending } = r.pending;
  return { ...r, pending };
}

/** The job holds nothing any more; undefined: it held nothing. */
export function release(r: Reservations, job: string): Reservations | undefined {
  const held = Object.fromEntries(Object.entries(r.held).filter(([, h]) => h.job !== job));
  const freed = Object.keys(held).length !== Object.keys(r.held).length;
  const done = carriedOut(r, job);
  return freed || done ? { ...(done ?? r), held } : undefined;
}

export const heldBy = (r: Reservations, job: string): string[] =>
  Object.entries(r.held).flatMap(([node, h]) => (h.job === job ? [node] : []));
