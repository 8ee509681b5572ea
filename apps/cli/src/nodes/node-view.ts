import { managementAddress, type LastCheck, type NodeView, type PowerDevice } from '#contracts';
import { clustermNode } from '#contracts/clusterm.js';
import { identityStanding, knownIdentity } from '#contracts/node/identity-standing.js';
import { clustermSections, sectionLines } from '../output/clusterm-lines.js';
import { dotted } from '../output/nested.js';
import type { View } from '../output/printer.js';
import type { Terminal } from '../output/terminal.js';
import { moment } from '../output/times.js';
import { acceptedText } from './accepted-text.js';
import { identityText } from './identity-text.js';
import { serviceState } from './service-state.js';

/** A node as a row, as the lines of the old program and what that did not know, and as a page about one. */
export const nodeView = (terminal: Terminal): View<NodeView> => ({
  name: (n) => n.name,
  head: ['NAME', 'GROUP', 'STATUS', 'STATE', 'SERVICE', 'ADDRESS', 'WHY'],
  row: (n) => [
    n.name,
    n.hostGroup ?? '-',
    n.status,
    n.state,
    n.inService ? terminal.paint('green', 'in') : terminal.paint('yellow', 'out'),
    managementAddress(n) || '-',
    [...n.reasons.map((r) => r.detail), ...lostNetworks(n)].join('; '),
  ],
  none: 'no nodes',
  lines: (n) =>
    sectionLines(n.name, [...clustermSections(clustermNode(n)), ['Service State', serviceState(n, terminal)]]),
  screen: (n) => nodePage(n, terminal),
});

/** All that a person asks of one node. */
function nodePage(n: NodeView, terminal: Terminal): string[] {
  const facts: [string, string | undefined][] = [
    ['group', n.hostGroup],
    ['status', `${n.status} (before: ${n.prevStatus})`],
    ['state', `${n.state} (before: ${n.prevState})`],
    ['verdict', n.verdict && `${n.verdict.verdict}${n.verdict.reason === undefined ? '' : `: ${n.verdict.reason}`}`],
    ['domain', n.failureDomain],
    ...Object.entries(n.networks).map(([name, { address }]): [string, string] => [name, address]),
    ...n.powerLevels.map((level, i): [string, string] => [`power ${i + 1}`, level.map(deviceText).join(' and ')]),
    ...n.powerLevels
      .flat()
      .map((d): [string, string] => [
        `own ${d.id}`,
        identityText(identityStanding(n, d), knownIdentity(n, d), terminal),
      ]),
    ['fencing', n.fencing],
    ['vars', dotted(n.vars).join(', ') || undefined],
    [drainWord(n), n.cordon && `${n.cordon.reason} (${n.cordon.by}${until(n.cordon.until, terminal)})`],
    ['remaining', n.remaining?.join(' ') || undefined],
    ['maintenance', n.maintenance?.reason],
    ['job', n.job],
    ['provisioned', n.provisioned && `${moment(n.provisioned.at, terminal)} by job ${n.provisioned.job}`],
    ['checked', n.lastCheck && checkText(n.lastCheck, terminal)],
    ['accepted', n.acceptedDrift && acceptedText(n.acceptedDrift, terminal)],
    ['ssh keys', n.sshHostKeys?.map((key) => key.split(' ')[0]).join(', ')],
  ];
  const service = n.inService ? terminal.paint('green', 'in service') : terminal.paint('yellow', 'out of service');
  return [
    `${terminal.paint('bold', n.name)}: ${service}`,
    ...n.reasons.map((r) => `  ${r.code.padEnd(14)} ${r.detail}`),
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name.padEnd(14)} ${value}`])),
  ];
}

/** It is in service all the same, and so no reason speaks of it. */
const lostNetworks = ({ verdict }: NodeView): string[] =>
  verdict?.verdict === 'DEGRADED' ? [`silent on ${verdict.networks.join(', ')}`] : [];

const deviceText = (d: PowerDevice): string =>
  `${d.id} (${d.driver} ${d.address}${d.port === undefined ? '' : `:${d.port}`})`;

/** What it told; whether that is what was set up, inventory judges. */
function checkText({ at, job, check, message }: LastCheck, terminal: Terminal): string {
  const bad = check?.findings.filter((f) => f.result !== 'ok').map((f) => `${f.service} ${f.result}: ${f.why}`);
  const found = bad === undefined ? `not carried out: ${message ?? 'see the job'}` : bad.join('; ') || 'all is ok';
  return `${moment(at, terminal)} by job ${job}: ${found}`;
}

/** What kind of cordon it is, and how far. */
const drainWord = ({ cordon }: NodeView): string =>
  cordon?.drain !== true ? 'cordon' : cordon.drained === undefined ? 'draining' : 'drained';

const until = (at: number | undefined, terminal: Terminal): string =>
  at === undefined ? '' : `, until ${moment(at, terminal)}`;
