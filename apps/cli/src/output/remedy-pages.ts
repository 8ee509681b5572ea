import { AlarmCodes, type AlarmCode } from '#contracts/alarms/alarm.js';
import { GateCodes, type GateCode } from '#contracts/incident/incident.js';
import { FLAPPING } from '#contracts/node/held-return.js';
import type { NodeRecord, OutReason } from '#contracts/node/node.js';
import { alarmGuides } from '#contracts/alarms/alarm-guide.js';
import { gateGuides, gateRemedy } from '#contracts/incident/gate-guide.js';
import { outGuides } from '#contracts/node/out-guide.js';
import type { Remedy } from '#contracts/remedies/remedy.js';
import { WorkloadStates, type WorkloadState } from '#contracts/workload/standing.js';
import { gateTable, type Gate, type GateFigure } from '#domain/incident/gates.js';

const command = (line: string): string => `\`\`\`\n${line}\n\`\`\``;

/** @param remedies those with one text one after the other: their commands stand below it */
const section = (code: string, meaning: string, remedies: readonly Remedy[]): string => {
  const parts = remedies.flatMap((r, i) => [...(r.text === remedies[i - 1]?.text ? [] : [r.text]), command(r.command)]);
  return [`## \`${code}\``, meaning, ...parts].join('\n\n');
};

const page = (head: string, parts: readonly string[]): string => `${[head, ...parts].join('\n\n')}\n`;

const ALARMS = `# Alarms

\`muster alarms\` lists those that stand, \`muster status\` shows each with the first thing to do, and so do \`GET /v1/alarms\`, the
webhooks (\`remedy\`) and this page, which is written by \`muster manual alarms > docs/alarms.md\`. An alarm ends by itself when its
condition does; \`muster alarms ack\` says that somebody is on it. What stands in capitals in a command is to be filled in.

First all codes by name; then why a node is out of service, and what \`muster workload list\` says of a workload.`;

const GATES = `# Gates

Before a node is powered off every gate is asked, in this order, and anew before the first command. The first that stops blocks
the incident: \`muster incident get NODE\` shows all of them with their figures, and \`muster node fence NODE --dry-run\` asks them
for a node that lives. What a gate is asked and nobody knows counts as a stop. An incident that waits goes on by itself as soon as
its gate lets it; \`muster incident release\` takes it past that one gate.

A power-off that was ordered by hand, and that a gate stops, is called off after ten minutes. So is what was released with \`--force\` while
the node was heard, where LIFE_SIGN stops it: the gates that it passed must not be open when the node falls silent another day. So is either
that was given while the node was heard, where no fencer answers for ten minutes whether its power devices are its own.

Written by \`muster manual gates > docs/gates.md\`.`;

/** `docs/alarms.md`. */
export function alarmsPage(): string {
  const alarms = [...AlarmCodes].sort().map((code: AlarmCode) => {
    const guide = alarmGuides[code];
    const remedy = { text: guide.text, command: guide.command(guide.subject) };
    return section(code, `${guide.meaning} Subject: \`${guide.subject}\`.`, [remedy]);
  });
  const out = (Object.keys(outGuides) as OutReason['code'][]).map((code) =>
    section(code, outGuides[code].meaning, remediesOf(code)),
  );
  const states = WorkloadStates.map((s) => `- \`${s}\`: ${stateTexts[s]}`);
  return page(ALARMS, [
    ...alarms,
    '# Why a node is out of service',
    '`muster node get` and `muster status` name each reason, the worst first.',
    ...out,
    '# What is with a workload',
    '`muster workload list` shows beside what is desired what is seen, why it differs, and what to do.',
    states.join('\n'),
  ]);
}

const releases: Record<Gate['release'], string> = {
  yes: 'An operator can release it.',
  force: 'An operator can release it with `--force`.',
  never: 'It cannot be released.',
};

const figureText = ({ name, ms, setting }: GateFigure): string =>
  ms === undefined ? `- ${name}: by \`${setting ?? ''}\`` : `- ${name}: ${ms / 1000} s`;

/** `docs/gates.md`. */
export const gatesPage = (): string =>
  page(
    GATES,
    GateCodes.map((code: GateCode) => {
      const { figures, release } = gateTable[code];
      const what = [`${gateGuides[code].meaning} ${releases[release]}`];
      if (figures.length > 0) what.push('What it goes by:', figures.map(figureText).join('\n'));
      return section(code, what.join('\n\n'), [gateRemedy(code, 'NODE')]);
    }),
  );

/** Nodes that tell the remedies of a reason apart. */
export const exampleNodes: readonly NodeRecord[] = (
  [
    { status: 'Unallocated', state: 'Unknown' },
    { status: 'Provisioning', state: 'Disappeared' },
    { revoked: { by: 'ann', at: 0, reason: 'lost' }, pendingReturn: { reason: 'rebooted', at: 0, held: 'drift' } },
    { pendingReturn: { reason: 'rebooted', at: 0, held: 'drift, needs operator', heldBy: 'work' } },
    { pendingReturn: { reason: 'rebooted', at: 0, held: 're-setup failed' } },
    { pendingReturn: { reason: 'rebooted', at: 0, held: FLAPPING } },
    { pendingReturn: { reason: 'rebooted', at: 0, unreached: { tries: 3, why: 'refused' } } },
    { pendingReturn: { reason: 'rebooted', at: 0, failedTries: 3 } },
    { pendingReturn: { reason: 'rebooted', at: 0, next: 'resetup' } },
  ] satisfies Partial<NodeRecord>[]
).map((o) => ({
  name: 'NODE',
  label: 'NODE',
  serial: '',
  failureDomain: 'default',
  networks: {},
  powerLevels: [],
  provisionDriver: 'ansible',
  vars: {},
  fencing: 'auto',
  enrolled: true,
  status: 'Allocated',
  prevStatus: 'Allocated',
  state: 'Disappeared',
  prevState: 'Unknown',
  createdAt: 0,
  ...o,
}));

function remediesOf(code: OutReason['code']): Remedy[] {
  const all = exampleNodes.map((n) => outGuides[code].remedy(n));
  return all.filter((r, i) => all.findIndex((x) => x.text === r.text) === i);
}

const stateTexts: Record<WorkloadState, string> = {
  running: 'its node says that it runs.',
  stopped: 'it shall not run, and that was read back.',
  starting: 'its start is under way.',
  stopping: 'its stop is under way; also of one that moves.',
  dead: 'its node is dead, and it was not started elsewhere: by its incident, a gate, a cordon, or a power that could not be proven off.',
  held: 'its start waits for what is told.',
  'no-room': 'no node in service has room for it.',
  failing: 'its start, or its stop, has failed, and is tried again.',
  missing: 'its node is heard, and does not run it.',
  waiting: 'it waits for its place, its order, or for a node that has left as planned.',
  elsewhere: 'it runs on another node than the one that it is assigned to.',
  'still-running': 'it shall not run, and does.',
  unknown: 'nobody can say: its node is silent, was never heard, or does not tell what it runs.',
};
