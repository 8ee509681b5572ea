import { managementAddress, type NodeView, type PowerDevice, type RpcAnswer } from '#contracts';
import { identityStanding, knownIdentity } from '#contracts/node/identity-standing.js';
import { word } from '#contracts/remedies/remedy.js';
import { isFencedAutomatically } from '#domain/node/to-be-fenced.js';
import { shortAge } from '../output/times.js';
import { bad, ok, skipped, unknown, warn, type Asked, type Finding } from './finding.js';

/** Of one node: what its devices read now. */
export type PowerReads = Asked<RpcAnswer<'fencer.power.read'>['devices']>;

/**
 * Every power device: does it answer, is it its node's own, was it ever tried.
 * @param reads by node; absent: it was not asked
 * @param now wall clock, ms
 */
export function powerFindings(
  nodes: readonly NodeView[],
  reads: ReadonlyMap<string, PowerReads>,
  now: number,
): Finding[] {
  return nodes.flatMap((n) => {
    const devices = n.powerLevels.flat();
    if (devices.length > 0) return devices.flatMap((d) => deviceFindings(n, d, reads.get(n.name), now));
    if (!isFencedAutomatically(n))
      return [
        skipped('bmc.answer', n.name, n.enrolled ? 'it is fenced by hand' : 'it has no agent: it is not watched'),
      ];
    const add = `muster node power-device add ${word(n.name)} bmc --driver ipmitool --address ADDRESS --username NAME --password-file FILE`;
    return [bad('bmc.answer', n.name, 'it has no power device: nobody can power it off', add)];
  });
}

function deviceFindings(n: NodeView, d: PowerDevice, reads: PowerReads | undefined, now: number): Finding[] {
  const subject = `${n.name}/${d.id}`;
  return [
    answerFinding(n, d, subject, reads, now),
    identityFinding(n, d, subject, now),
    drillFinding(n, d, subject, now),
  ];
}

const ago = (at: number, now: number): string => `${shortAge(Math.max(0, now - at))} ago`;

function answerFinding(
  n: NodeView,
  d: PowerDevice,
  subject: string,
  reads: PowerReads | undefined,
  now: number,
): Finding {
  const check = 'bmc.answer';
  const test = `muster node power-device test ${word(n.name)}`;
  const known = knownIdentity(n, d);
  const before = known === undefined ? 'it was never read' : `it was read well ${ago(known.at, now)}`;
  if (reads === undefined) return unknown(check, subject, `it was not asked now; ${before}`, test);
  if ('failed' in reads) return unknown(check, subject, `${reads.failed}; ${before}`, test);
  const read = reads.value.find((r) => r.id === d.id);
  if (read === undefined) return unknown(check, subject, `nothing was said of it; ${before}`, test);
  if (read.power !== 'unknown') return ok(check, subject, `${read.power}, read now at ${d.address}`);
  const why = [read.code, read.detail].filter((x) => x !== undefined).join(': ') || 'no answer';
  if (read.code === 'NODE_BUSY') return unknown(check, subject, `${why}; ${before}`, test);
  return bad(check, subject, `no answer at ${d.address} (${why}); ${before}`, test);
}

function identityFinding(n: NodeView, d: PowerDevice, subject: string, now: number): Finding {
  const check = 'bmc.identity';
  const known = knownIdentity(n, d);
  const identify = `muster node power-device test ${word(n.name)}`;
  if (known === undefined)
    return unknown(check, subject, 'never compared with its machine at this place with these credentials', identify);
  const at = ago(known.at, now);
  const why = known.why === undefined ? '' : `: ${known.why}`;
  switch (identityStanding(n, d)) {
    case 'proven':
      return ok(check, subject, `its node's own, by its ${known.by ?? 'proof'}, ${at}`);
    case 'acknowledged':
      return warn(check, subject, `another machine's, and ${known.acknowledged?.by} answers for it${why}`, identify);
    case 'mismatch':
      return bad(check, subject, `another machine's${why} (${at}): its node is not fenced`, identify);
    case 'unproven':
      return warn(check, subject, `not proven to be its node's own${why} (${at})`, drill(n, d));
  }
}

function drill(n: NodeView, d: PowerDevice): string {
  const level = n.powerLevels.findIndex((devices) => devices.some((x) => x.id === d.id)) + 1;
  return `muster node drill ${word(n.name)}${level > 1 ? ` --level ${level}` : ''} --reason "…"`;
}

function drillFinding(n: NodeView, d: PowerDevice, subject: string, now: number): Finding {
  const check = 'bmc.drill';
  const known = knownIdentity(n, d);
  if (known?.result === 'proven' && known.by === 'drill') return ok(check, subject, `drilled ${ago(known.at, now)}`);
  return warn(check, subject, 'it was never seen that its off reaches this node', drill(n, d));
}

/** The last time that Muster was logged in there, as its record tells. */
export function sshFindings(nodes: readonly NodeView[], now: number): Finding[] {
  return nodes.map((n): Finding => {
    const check = 'ssh.login';
    const look = `muster node check ${word(n.name)} --wait`;
    if (managementAddress(n) === '')
      return bad(
        check,
        n.name,
        'it has no address on network management',
        `muster node set ${word(n.name)} network.management=ADDRESS`,
      );
    const unreached = n.pendingReturn?.unreached;
    if (unreached !== undefined)
      return bad(check, n.name, `not reached in ${unreached.tries} tries: ${unreached.why}`, look);
    if (n.lastCheck?.unreachable === true)
      return bad(
        check,
        n.name,
        `not reached ${ago(n.lastCheck.at, now)}: ${n.lastCheck.message ?? 'unreachable'}`,
        look,
      );
    const last = Math.max(...[n.lastCheck?.at, n.findings?.at, n.provisioned?.at].map((at) => at ?? 0));
    if (last === 0) return unknown(check, n.name, 'nobody has logged in there yet', look);
    const old = now - last > OLD_LOGIN_MS;
    const text = `last logged in ${ago(last, now)}`;
    return old ? warn(check, n.name, text, look) : ok(check, n.name, text);
  });
}

/** A login says little of one so much later, ms: 30 days. */
const OLD_LOGIN_MS = 30 * 86_400_000;
