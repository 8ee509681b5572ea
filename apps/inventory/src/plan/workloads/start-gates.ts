import type { NodeRecord, RunningWorkload } from '#contracts';
import { isStoppedThere, ungatedAfter, ungatedText } from '#domain/workload/ungated.js';
import type { WantedAlarm } from '../../alarms/keep-alarms.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { eachRecord, isDecided, type Decided } from '../each-record.js';
import type { Concern } from '../concern.js';
import type { ChangeNode } from '../intent.js';
import { orderOutcome } from './recover-job.js';
import { alarmIntents } from '../alarms/alarm-intents.js';

/**
 * Keeps in each node's record what its boot may start without asking, and the alarm `workload-ungated`. It is stored, as it
 * must be known when the node says nothing any more, and to whoever conducts then.
 */
export const startGates: Concern = {
  isKnown: ({ nodes }) => nodes.live,
  plan: (fleet) => {
    const said = newsOf(fleet);
    const news = new Map(said.made);
    const { made, failed } = eachRecord(
      fleet.nodes.list,
      ({ key: node }) => ({ node }),
      ({ key, value }): WantedAlarm[] => {
        const ungated = news.get(key)?.is ?? value.ungated ?? [];
        if (ungated.length === 0) return [];
        const message = `${key}: ${ungatedText(ungated)}. A boot would start it beside its copy elsewhere, so Muster does not power ${key} on by itself.${untold(fleet, key)}`;
        return [{ code: 'workload-ungated', subject: key, severity: 'warning', message }];
      },
    );
    const all = [...said.failed, ...failed];
    return [
      ...all,
      ...[...news].map(([node, { says }]) => noteUngated(fleet, node, says)),
      ...alarmIntents(fleet, ['workload-ungated'], made, isDecided(all)),
    ];
  },
};

/** Node → what its fresh report says of it, and what its record says from then on; without those that say nothing new. */
const newsOf = (fleet: Fleet): Decided<[string, { says: RunningWorkload[]; is: string[] }]> =>
  eachRecord(
    fleet.reports,
    ([node]) => ({ node }),
    ([node, { workloads: says }]) => {
      const record = fleet.nodes.get(node)?.value;
      const is = record && ungatedAfter(record.ungated, says, isOver(fleet, node));
      return is === undefined || says === undefined ? [] : [[node, { says, is }]];
    },
  );

/** Muster has stopped it there, or there is no such workload: nobody would start a second one. */
const isOver =
  ({ workloads, jobs }: Fleet, node: string) =>
  (workload: string): boolean => {
    const record = workloads.get(workload)?.value;
    if (record === undefined) return workloads.live && !workloads.has(workload);
    return isStoppedThere(record, node, (id) => {
      const job = jobs.get(id)?.value;
      return job !== undefined && orderOutcome('stop', job, node, workload)?.done === true;
    });
  };

/** An agent of before does not tell of gates. */
const untold = ({ reports }: Fleet, node: string): string =>
  reports.get(node)?.workloads?.some((w) => w.gated === undefined) === true
    ? ' Its agent is an old one, which does not tell of gates: update it.'
    : '';

const noteUngated = (fleet: Fleet, node: string, says: RunningWorkload[]): ChangeNode => ({
  ...{ do: 'change-node', key: node, about: { node } },
  reason: 'Other work than before may be started there without a start gate.',
  decide: (now) => withUngated(now, ungatedAfter(now.ungated, says, isOver(fleet, node))),
});

function withUngated(now: NodeRecord, is: string[] | undefined): NodeRecord | undefined {
  if (is === undefined) return undefined;
  const { ungated: _was, ...rest } = now;
  return is.length === 0 ? rest : { ...rest, ungated: is };
}
