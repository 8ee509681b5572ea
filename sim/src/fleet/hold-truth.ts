import { isEndedJob, type ClaimRecord, type Hold, type JobRecord, type Reservations } from '#contracts';

/**
 * What holds nodes although it is over, or is known to nobody, each in words.
 * @param wallMs by which a claim ends; undefined: nobody ends one now
 */
export function heldForNothing(
  { held, claims = {}, edits = {} }: Partial<Reservations> = {},
  jobOf: (id: string) => JobRecord | undefined,
  wallMs: number | undefined,
): string[] {
  const unknown = (id: string | undefined, records: Readonly<Record<string, unknown>>): string[] =>
    id === undefined || records[id] !== undefined ? [] : [`${id}, of which there is no record`];
  const whys = ({ job, claim, edit }: Hold): string[] => [
    ...(job === undefined ? [] : jobWhy(job, jobOf(job))),
    ...unknown(claim, claims),
    ...unknown(edit, edits),
    ...(job === undefined && claim === undefined && edit === undefined ? ['nobody'] : []),
  ];
  return [
    ...Object.entries(held ?? {}).flatMap(([node, hold]) => whys(hold).map((why) => `${node} is held by ${why}`)),
    ...Object.entries(edits).map(([id, { nodes }]) => `${nodes.join(' ')} are held by ${id}, which is half written`),
    ...Object.values(claims).flatMap((c) =>
      claimWhy(c, wallMs).map((why) => `${c.nodes.join(' ')} are held by ${c.id}, ${why}`),
    ),
  ];
}

function jobWhy(id: string, job: JobRecord | undefined): string[] {
  if (job === undefined) return [`${id}, of which there is no record`];
  return isEndedJob(job) ? [`${id}, which is ${job.status}`] : [];
}

function claimWhy({ pending, expiresAt }: ClaimRecord, wallMs: number | undefined): string[] {
  if (pending === true) return ['of which nobody was told'];
  return wallMs !== undefined && expiresAt !== undefined && expiresAt <= wallMs ? ['whose time is over'] : [];
}
