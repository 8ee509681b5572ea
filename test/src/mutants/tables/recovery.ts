import type { Mutant } from '../mutant.js';

const PLAN = 'apps/inventory/src/plan/recovery';
const WRITER = 'apps/inventory/src/execute/intent-writer.ts';
const specs = [`${PLAN}/recovery.spec.ts`];

/** From a proof of off until its incident is closed: what is done, in which order, and what a gap or a crash does to it. */
export const recovery: readonly Mutant[] = [
  {
    name: 'a workload that was assigned a moment before the fence is missed',
    file: `${PLAN}/recovery-intents.ts`,
    symbol: 'begin',
    operation: { replace: '{ workloads: true }', with: '{}' },
    specs,
  },
  {
    name: 'work is taken from a node that is not marked as off',
    file: WRITER,
    symbol: 'IntentWriter.nodeFirst',
    operation: { drop: 'await this.nodes.change({ ...i.node, decide }, at, c);' },
    specs,
  },
  {
    name: 'a void proof is written down without the devices that gave it',
    file: WRITER,
    symbol: 'IntentWriter.nodeFirst',
    operation: { drop: 'found = now;' },
    specs,
  },
  {
    name: 'work is taken before the incident is seen that tells of it',
    file: 'apps/inventory/src/execute/incident-writer.ts',
    symbol: 'IncidentWriter.change',
    operation: { drop: 'await this.store.incidents.view.shows(changed.revision, SHOWN_MS);' },
    specs,
  },
  {
    name: 'an incident is recovered by a conductor that a later one has followed',
    file: `${PLAN}/conducted.ts`,
    symbol: 'conducted',
    operation: { operand: 'now.conductor > token' },
    specs,
  },
  {
    name: 'an incident that is fenced no more is begun to be recovered',
    file: `${PLAN}/recovery-start.ts`,
    symbol: 'recovering',
    operation: { drop: "if (now.phase !== 'fenced') return undefined;" },
    specs,
  },
  {
    name: 'a recovery is over through a gap in the view of the workloads',
    file: `${PLAN}/recovery-line.ts`,
    symbol: 'followed',
    operation: { operand: '!workloads.live' },
    specs,
  },
  {
    name: 'work is taken from a node that speaks in the boot that is called off',
    file: `${PLAN}/recovery.ts`,
    symbol: 'recovery',
    operation: { drop: 'if (isContradicted.has(i.id)) return [];' },
    specs,
  },
  {
    name: 'one report that was on its way makes a proof void',
    file: `${PLAN}/recovery.ts`,
    symbol: 'isCertain',
    operation: { replace: 'ages.of(contradictedCondition(i))', with: 'Infinity' },
    specs,
  },
  {
    name: 'a proof that was given anew is as old as the one before',
    file: 'apps/inventory/src/plan/power/contradicted.ts',
    symbol: 'provenCondition',
    operation: { replace: 'proof?.at ?? 0', with: '0' },
    specs,
  },
  {
    name: 'nobody is silent through a gap in the view of the nodes',
    file: `${PLAN}/proof-facts.ts`,
    symbol: 'factsOf',
    operation: { operand: 'nodes.live' },
    specs,
  },
  {
    name: 'who fell silent with an off that was given before this process began was silent before',
    file: 'apps/inventory/src/power/collateral-watch.ts',
    symbol: 'CollateralWatch.offsAgoMs',
    operation: { replace: 'this.older.has(off)', with: 'false' },
    specs: ['apps/inventory/src/power/collateral-watch.spec.ts'],
  },
  {
    name: 'a proof is held that a person has confirmed meanwhile',
    file: `${PLAN}/proof-step.ts`,
    symbol: 'collateralNoted',
    operation: { operand: "now.proof?.kind === 'manual'" },
    specs,
  },
  {
    name: 'the job that was on its way to a dead node goes on',
    file: `${PLAN}/recovery-intents.ts`,
    symbol: 'take',
    operation: { replace: '[callBack(job, workload)]', with: '[]' },
    specs,
  },
  {
    name: 'what is assigned to a node while its work is recovered stays there',
    file: `${PLAN}/recovery.ts`,
    symbol: 'goOn',
    operation: { replace: '[...i.recovery, ...late]', with: 'i.recovery' },
    specs,
  },
  {
    name: 'what is assigned to a node that is recovered and off stays there',
    file: `${PLAN}/recovery.ts`,
    symbol: 'finish',
    operation: { replace: 'isOff ? assignedTo(fleet, i.node) : []', with: '[]' },
    specs,
  },
  {
    name: 'a node is powered on twice a day by what a view still shows',
    file: `${PLAN}/recovery-intents.ts`,
    symbol: 'follow',
    operation: { replace: '{ nodes: [i.node] }', with: '{}' },
    specs,
  },
  {
    name: 'an incident is closed by what a view still shows of its node',
    file: `${PLAN}/recovery-intents.ts`,
    symbol: 'close',
    operation: { replace: '{ nodes: [i.node] }', with: '{}' },
    specs,
  },
  {
    name: 'a power-on is not counted',
    file: `${PLAN}/recovery-end.ts`,
    symbol: 'uncountedPowerOn',
    operation: { replace: '!(node.poweredOnAt ?? []).includes(powerOn.requestedAt)', with: 'false' },
    specs,
  },
  {
    name: 'late work is taken from a node that is on again by its record',
    file: 'apps/inventory/src/plan/recovery/recovery-intents.ts',
    symbol: 'takeLate',
    operation: { replace: 'fleet.nodes.get(node)?.value.confirmedOff?.incident === id', with: 'id !== node' },
    specs: ['apps/inventory/src/plan/recovery/recovery.spec.ts'],
  },
];
