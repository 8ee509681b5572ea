import type { IncidentPhase } from '#contracts/incident/incident.js';
import type { JobStatus } from '#contracts/job/job.js';
import type { NodeState, NodeStatus, PendingReturn } from '#contracts/node/node.js';
import type { JobEvent } from '#domain/job/changes.js';
import type { PowerStep } from '#domain/power/next-step.js';
import type { WishName } from '#domain/power/power-wish.js';
import type { CheckedStep } from '#domain/return/after-check.js';
import type { ResetupStep } from '#domain/return/after-resetup.js';
import type { ReturnStep } from '#domain/return/return-table.js';
import type { ReturnStage } from '#domain/return/stage.js';
import type { WorkloadEvent } from '#domain/workload/changes.js';
import type { WorkloadStage } from '#domain/workload/stage.js';

/** What a state means, and what ends it. */
export type StateText = readonly [meaning: string, ends: string];

export const phaseTexts: Record<IncidentPhase, StateText> = {
  open: [
    'The node was found `DOWN`, or was ordered off: the first of the steps that are shown. A new record begins as `investigating`: only one of an earlier version stands in it, and the arrows are for that.',
    'Its gates are asked.',
  ],
  investigating: [
    'The gates are asked, with the verdict as of now.',
    'All gates pass and it has a permit; or one stops; or the verdict is no longer `DOWN`; or an operator confirms the node down or cancels it.',
  ],
  suppressed: [
    'Blocked by a gate, which is named with its figures.',
    'The gate lets it, or an operator releases it, confirms the node down or cancels it; or the node is heard.',
  ],
  fencing: [
    'The fencing leader powers the node off, level by level, and reads its power back.',
    'Two reads as off of each device of a level; or no level is left; or the node is heard when the quarantine is over; or an operator confirms it down. Before the first `off` also: a gate stops, the verdict is no longer `DOWN`, or an operator cancels it.',
  ],
  fenced: [
    'The power was proven off, or an operator has confirmed that the node is down.',
    'The conductor begins the recovery; or the node speaks, and the proof is void.',
  ],
  failed: [
    'No fencing level could be proven off. Nothing is recovered, and the alarm `fencing-failed` stands.',
    'The backoff is over, the devices were edited, or an operator confirms the node down; or the node is heard. Before the first `off` also: a gate stops, the verdict is no longer `DOWN`, or an operator cancels it.',
  ],
  recovering: [
    'What was assigned to the node is taken from it while it is off, placed, and started elsewhere. What the node has when it comes back stays with it.',
    'Each workload runs, waits for what an alarm names, or is owed to the node itself, which has come back; or the node speaks in the boot that was ended: its proof is void, and it has failed.',
  ],
  recovered: [
    'Nothing of it is left to recover. The node is off, and what is assigned to it late is taken from it, too; or it is on its way back.',
    'The node serves again, is out of the cluster, was deleted, or died anew after a boot; or it speaks in the boot that was ended: its proof is void, and it has failed.',
  ],
  closed: [
    'Over. An order to a node without an incident is shown as one that is closed.',
    'A new incident takes its place.',
  ],
  survived: ['The node lived on although it was ordered off.', 'A new incident takes its place.'],
  cancelled: ['Ended before the first `off`: by the verdict, or by an operator.', 'A new incident takes its place.'],
};

export const wishTexts: Record<'nothing' | WishName, StateText> = {
  nothing: ['The record wants nothing of the power.', 'An incident begins to fence, or an order is due.'],
  'incident-off': [
    'A fencing, by a verdict or by hand: hard `off`, until it is proven.',
    'The proof, a failure of the attempt, or the survival of the node; before the first `off` also a gate that closes, or a cancel.',
  ],
  'system-on': [
    'After the recovery the node is powered on again: the policy `afterRecovery` is `power-on`.',
    'It reads as on, or three tries have failed. Or it is withheld, and the node stays off until a person powers it on: fencing is paused, the mode is `observe`, the node is cordoned, or work ran there without a [start gate](glossary.md#start-gate).',
  ],
  'operator-on': [
    'The order of an operator, also the second half of a cycle.',
    'Read as on, given up, or void: a pause, a cancelled incident, a new incident, no fencer in time.',
  ],
  'operator-soft': [
    'The order of an operator: the system is asked to shut down, which proves nothing.',
    'Its device took the command; or void, also where the node has rebooted since.',
  ],
};

export const powerStepTexts: Record<PowerStep['do'], string> = {
  idle: 'Nothing is wanted.',
  recheck: 'Inventory is asked whether the incident still stands, as of now. No `off` without its yes.',
  command: 'Commands are given: an `off`, `on` or `soft` is written into the record first, a read after it.',
  fenced: 'The level is proven off: the incident becomes `fenced`.',
  'next-level': 'This level could not be proven off: the next one begins.',
  failed: 'No level is left: the incident becomes `failed`, with a backoff of 10 s, doubled up to 5 min.',
  done: 'The order ended, well or not: that is written into the record.',
  wait: 'Until a time, or until a command ends or the record changes.',
};

export const stageTexts: Record<WorkloadStage, StateText> = {
  unplaced: ['It shall run, and is assigned to no node.', 'A node with room is found, or it is seen running.'],
  'start-owed': ['It is assigned, and its start is owed.', 'A job gets the start, once nothing stands against it.'],
  starting: [
    'A job has its start, and the start gate of its node, where its unit has one, is open.',
    'The job has ended, or the node reports it.',
  ],
  running: ['It is assigned, and nothing is owed.', 'An edit, a move, an end, a reboot, or the death of its node.'],
  'leave-owed': [
    'It shall run elsewhere: its stop is owed here.',
    'A job gets the stop; or that has failed, and its node says that nothing of it runs.',
  ],
  leaving: ['A job has that stop.', 'Read back as gone; or the stop failed, and is owed again.'],
  'stop-owed': ['It shall not run: its stop is owed.', 'A job gets the stop.'],
  stopping: ['A job has that stop.', 'Read back as stopped; or the stop failed, and is owed again.'],
  stopped: ['It shall not run, and was read back so.', 'It is wanted again, or is seen running.'],
  idle: ['It shall not run, and is assigned to no node.', 'It is wanted, or is seen running.'],
};

export const workloadEventTexts: Record<WorkloadEvent['kind'], string> = {
  put: 'an operator registers or edits it',
  restored: 'a `put` is undone that was refused after it was written',
  assigned: 'it is placed on a node',
  cleared: 'it is taken from a node that cannot run it',
  moved: 'its start is owed by another node: the first does not run it',
  corrected: 'it is seen elsewhere, and the record follows',
  'start-given': 'a job gets its start',
  started: 'it runs, by its job or by the report of its node',
  'start-failed': 'the job did not start it',
  held: 'its start waits; the record says for what',
  lost: 'its node has rebooted',
  ended: 'it has ended by itself',
  steady: 'it has run on for long enough',
  'stop-needed': 'it runs although it shall not',
  'move-ordered': 'it is to leave its node',
  'given-up': 'its node did not get it started, and it is to leave',
  'stop-given': 'a job gets its stop',
  stopped: 'it was read back as stopped',
  left: 'it was read back as gone from the node that it leaves',
  'stop-failed': 'the job did not stop it',
};

export const jobEventTexts: Record<JobEvent['kind'], string> = {
  taken: 'a worker takes it, or takes it over from one that is gone',
  completed: 'its worker has carried it out, and it succeeded',
  failed: 'its worker has ended it: it failed, was cancelled, timed out or cannot be carried out',
  refused: 'a worker finds that it must not be begun',
  cancelled: 'it is cancelled: one that runs is ended by its worker',
  'called-back': 'the node on which it starts or stops something died: a worker ends it, or refuses it',
  'called-off': 'a node was powered off before its workloads had left',
  superseded: 'its store was put back to an earlier moment',
};

export const jobTexts: Record<JobStatus, StateText> = {
  Queued: [
    'Admitted: its nodes are reserved. One with workloads in `moving` waits until these have left.',
    'A worker takes it; or it is cancelled or refused, and has done nothing.',
  ],
  Running: [
    'A worker holds its lease and carries it out.',
    'The playbooks have ended, it is cancelled, or they cannot be run. Where its worker is gone another one takes over.',
  ],
  Complete: ['All its nodes succeeded.', 'Final. Inventory carries the results into the nodes and frees them.'],
  Errored: [
    'It failed, was cancelled, or was refused.',
    'Final. Inventory carries the results into the nodes and frees them.',
  ],
};

export const statusTexts: Record<NodeStatus, StateText> = {
  Unallocated: ['Registered, and nothing is set up on it.', 'A commission.'],
  Provisioning: ['A commission sets it up.', 'The end of that job.'],
  Allocated: [
    'Set up for its host group. It may serve, and it may be fenced.',
    'A decommission or an update (maintenance).',
  ],
  Cancelled: ['A decommission cleans it up.', 'The end of that job.'],
  Decommissioned: ['It was cleaned up, or that was tried.', 'A commission.'],
  Maintenance: ['An update cleans it up and sets it up anew.', 'The end of that job.'],
};

export const nodeStateTexts: Record<NodeState, StateText> = {
  Unknown: ['It was never heard, or its agent was revoked.', 'The first verdict `UP`, `DEGRADED`, `DOWN` or `LEFT`.'],
  Discovered: [
    'It is heard: the last of these verdicts was `UP` or `DEGRADED`.',
    '`DOWN`, `LEFT`, or its agent is revoked.',
  ],
  Disappeared: [
    'It is not heard: the last of these verdicts was `DOWN` or `LEFT`.',
    '`UP`, `DEGRADED`, or its agent is revoked.',
  ],
};

export const returnReasonTexts: Record<PendingReturn['reason'], string> = {
  disappeared: 'it was `Disappeared`, and is heard again',
  degraded: 'it was silent on `management` for longer than `holdDown`, and is `UP`',
  rebooted: 'it is heard in another boot, or was proven off',
  'first-seen': 'it is heard for the first time',
};

export const returnTexts: Record<ReturnStage, StateText> = {
  due: [
    'The return is noted; the node is out of service.',
    'It is reachable, free and quiet: a check begins. More returns in ten minutes than `flaps`: it is held.',
  ],
  checking: ['A job compares the node with what was set up, and changes nothing.', 'The job has ended.'],
  'to be set up': [
    'The check has found drift, something broken, or another configuration, and `onReturn` is `resetup`.',
    'Nothing runs there: a re-setup begins. Something runs there, or nobody says so for 30 s: it is held.',
  ],
  'being set up': ['A job cleans the node up and sets it up.', 'The job has ended.'],
  held: [
    'The node stays out of service until a person decides. Why: a row below that says "it is held".',
    '`muster node release NODE --accept` (for drift): it is checked anew. A check or a re-setup that a person orders passes: it is in service. A new boot: it is checked anew, unless it is held for flapping.',
  ],
  'held for work': ['A re-setup would end what runs there.', 'Nothing runs there any more: it is checked anew.'],
  'in service': ['The check, or the re-setup, has passed: the return is over.', 'The next return.'],
};

export const returnStepTexts: Record<ReturnStep['do'], string> = {
  wait: 'it waits',
  hold: 'it is held: an operator is asked',
  lift: 'its hold is lifted, and it is checked anew',
  check: 'a check begins',
  resetup: 'a re-setup begins',
};

export const checkedStepTexts: Record<CheckedStep['do'], string> = {
  ignore: 'nothing, and it is not kept as the last check',
  note: 'it is kept as the last check, and nothing more',
  serve: 'the return is over: the node is in service',
  check: 'it is checked again, after the backoff for checks that failed',
  reach: 'it is checked again, after the backoff for ssh',
  hold: 'it is held: an operator is asked',
  resetup: 'it is to be set up again',
};

export const resetupStepTexts: Record<ResetupStep, string> = {
  serve: 'the return is over: the node is in service',
  check: 'that return gets its check',
  note: 'nothing: the node is what it was',
  hold: 'it is held: an operator is asked',
  'take-out': 'it is held, and out of service (`maintenance`): an operator is asked',
};
