import type { AgentFacts, DiagnosisView } from '#contracts';
import { word } from '#contracts/remedies/remedy.js';
import { shortAge } from '../output/times.js';
import { bad, ok, unknown, warn, type Asked, type Finding } from './finding.js';

/** A report comes each second or two: without one for so long the agent is not heard, ms. */
const SILENT_MS = 10_000;
/** Clocks that differ by more make logs hard to read, ms; the way of a report is in it. */
const CLOCK_WARN_MS = 2_000;
/** … and by so much tokens and certificates end too early or too late, ms. */
const CLOCK_BAD_MS = 60_000;

const SETTLE = 'set its clock by NTP (timedatectl set-ntp true)';

/** Every agent: is it heard, is it of this version, does its clock agree, do datagrams pass both ways. */
export function agentFindings(asked: Asked<DiagnosisView>): Finding[] {
  if ('failed' in asked)
    return ['report', 'version', 'clock', 'udp'].map((what) =>
      unknown(`agent.${what}`, 'agents', asked.failed, 'muster status'),
    );
  const { agents, version } = asked.value;
  const heard = new Map(agents.filter(isHeard).map((a) => [a.node, a]));
  return agents.flatMap((a) => {
    const why = `muster node why ${word(a.node)}`;
    if (!isHeard(a)) {
      const since = a.ageMs === undefined ? 'not heard since inventory has started' : `silent for ${shortAge(a.ageMs)}`;
      return [
        bad('agent.report', a.node, since, why),
        ...['version', 'clock', 'udp'].map((what) => unknown(`agent.${what}`, a.node, 'its agent is not heard', why)),
      ];
    }
    return [
      ok('agent.report', a.node, `heard ${shortAge(a.ageMs ?? 0)} ago`),
      versionFinding(a, version),
      clockFinding(a),
      ...udpFindings(a, heard),
    ];
  });
}

const isHeard = (a: AgentFacts): boolean => a.ageMs !== undefined && a.ageMs <= SILENT_MS;

function versionFinding({ node, version }: AgentFacts, own: string): Finding {
  const check = 'agent.version';
  const remedy = 'discover its host anew (muster discover ADDRESS), or install a newer archive there (docs/agent.md)';
  if (version === undefined) return unknown(check, node, 'it does not tell: an agent of an earlier Muster', remedy);
  return version === own ? ok(check, node, version) : warn(check, node, `${version}, and Muster is ${own}`, remedy);
}

function clockFinding({ node, clockOffMs: off }: AgentFacts): Finding {
  const check = 'agent.clock';
  if (off === undefined)
    return unknown(check, node, 'it does not tell: an agent of an earlier Muster', 'bring its agent to this version');
  const apart = Math.abs(off);
  const text = `${shortAge(apart)} ${off < 0 ? 'behind' : 'ahead of'} inventory's`;
  if (apart > CLOCK_BAD_MS) return bad(check, node, text, SETTLE);
  return apart > CLOCK_WARN_MS ? warn(check, node, text, SETTLE) : ok(check, node, text);
}

/** Peers whose own agent is silent are told as that, not as links. */
function udpFindings({ node, misses = {} }: AgentFacts, heard: ReadonlyMap<string, AgentFacts>): Finding[] {
  const check = 'agent.udp';
  const others = [...heard.values()].filter((a) => a.node !== node);
  const networks = new Set([...Object.keys(misses), ...others.flatMap((a) => Object.keys(a.misses ?? {}))]);
  const wrong = [...networks].sort().flatMap((network): Finding[] => {
    const deafTo = (misses[network] ?? []).filter((peer) => heard.has(peer));
    const missedBy = others.filter((a) => a.misses?.[network]?.includes(node) === true).map((a) => a.node);
    if (deafTo.length === 0 && missedBy.length === 0) return [];
    const oneWay = deafTo.filter((peer) => !missedBy.includes(peer));
    const words = [
      ...(deafTo.length > 0 ? [`it has no echo from ${deafTo.join(', ')}`] : []),
      ...(missedBy.length > 0 ? [`${missedBy.join(', ')} ${missedBy.length === 1 ? 'has' : 'have'} none from it`] : []),
      ...(oneWay.length > 0 ? [`one way: ${oneWay.join(', ')}`] : []),
    ];
    const remedy = 'let the UDP port of the agents pass on this network, both ways (default 7946)';
    return [bad(check, node, `${network}: ${words.join('; ')}`, remedy)];
  });
  return wrong.length > 0 ? wrong : [ok(check, node, 'echoes pass both ways on every network')];
}
