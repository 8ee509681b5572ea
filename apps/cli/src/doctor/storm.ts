import { brakeLimit, capLimit, type ClusterSettings, type DiagnosisView } from '#contracts';
import { ok, unknown, warn, bad, skipped, type Asked, type Finding } from './finding.js';

/** So many members may all be within the smallest limit that there is. */
const SMALL_FLEET = 5;

const CHANGE = 'muster settings set fencing.storm.brakeAtLeast=N fencing.storm.brakeShare=S';

/** The storm limits beside the fleet that they are to stop in time, or not at all. */
export function stormFindings(
  settings: Asked<Pick<ClusterSettings, 'fencing'>>,
  fleet: Asked<Pick<DiagnosisView, 'members' | 'domains'>>,
): Finding[] {
  const failed = 'failed' in settings ? settings.failed : 'failed' in fleet ? fleet.failed : undefined;
  if (failed !== undefined || 'failed' in settings || 'failed' in fleet)
    return ['brake', 'cap', 'domain'].map((what) => unknown(`storm.${what}`, 'fleet', failed ?? '', 'muster status'));
  const limits = settings.value.fencing.storm;
  const { members, domains } = fleet.value;
  if (members === 0) return [skipped('storm.brake', 'fleet', 'there is no member yet')];
  const brake = brakeLimit(members, limits);
  return [
    brakeFinding(brake, members),
    capFinding(capLimit(members, limits), members),
    ...domainFindings(domains, brake),
  ];
}

function brakeFinding(limit: number, members: number): Finding {
  const text = `${limit} of ${members} members may be silent or in an incident at once`;
  // With less than a majority left the monitor has no quorum: nobody is fenced on its word, whatever the brake says.
  return limit * 2 < members
    ? ok('storm.brake', 'fleet', text)
    : warn(
        'storm.brake',
        'fleet',
        `${text}: the brake never stops anything`,
        'add nodes, or take it for granted: a majority must be heard all the same',
      );
}

function capFinding(limit: number, members: number): Finding {
  const text = `${limit} of ${members} members may be fenced in 10 min`;
  if (limit < members) return ok('storm.cap', 'fleet', text);
  const change = 'muster settings set fencing.storm.capAtLeast=N fencing.storm.capShare=S';
  // The default of a handful of nodes: a majority must be heard all the same.
  const broken = members <= SMALL_FLEET ? warn : bad;
  return broken('storm.cap', 'fleet', `${text}: all of them`, change);
}

/** A rack that goes down as a whole is more than the brake lets through: somebody should know before. */
function domainFindings(domains: Readonly<Record<string, number>>, brake: number): Finding[] {
  const large = Object.entries(domains).filter(([, n]) => n > brake);
  if (Object.keys(domains).length === 1)
    return [
      warn(
        'storm.domain',
        Object.keys(domains)[0] ?? '',
        'every member is in one failure domain',
        'say which nodes fail together: muster node set NODE failureDomain=RACK',
      ),
    ];
  if (large.length === 0) return [ok('storm.domain', 'fleet', `no failure domain is larger than the brake (${brake})`)];
  return large.map(([domain, n]) =>
    warn(
      'storm.domain',
      domain,
      `its ${n} members are more than the brake lets go (${brake}): where it falls as a whole, an operator is asked`,
      CHANGE,
    ),
  );
}
