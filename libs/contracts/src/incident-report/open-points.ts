import { alarmKey, type AlarmRecord } from '../alarms/alarm.js';
import { isEndedJob } from '../job/job.js';
import type { EventMap } from '../rpc/events.js';
import type { PublicEvent } from '../rpc/public-event.js';
import { type IncidentRecord, isOpenIncident } from '../incident/incident.js';
import type { ReportFacts } from './report-facts.js';

/** What somebody still has to look at after an incident, each as a sentence; none: nothing. */
export function openPoints(f: ReportFacts): string[] {
  return [...ofPhase(f.incident), ...ofPower(f.incident), ...ofWork(f), ...ofNode(f)];
}

function ofPhase(i: IncidentRecord): string[] {
  const points: string[] = [];
  if (i.unreadable !== undefined) points.push(`The stored record cannot be read: ${i.unreadable}`);
  if (!isOpenIncident(i)) return points;
  const stopped = i.gates.filter((g) => !g.pass).map((g) => `${g.gate}: ${g.detail}`);
  const last = i.steps.at(-1);
  if (i.phase === 'suppressed') points.push(`It waits at its gates (${stopped.join('; ') || (i.gate ?? 'unknown')}).`);
  else points.push(`It is still ${i.phase}${last === undefined || last.detail === '' ? '' : `: ${last.detail}`}`);
  if (i.phase === 'fenced' && i.collateral !== undefined)
    points.push(
      `Its proof is held: after its power-off ${i.collateral.nodes.map((n) => n.node).join(', ')} fell silent too.`,
    );
  return points;
}

function ofPower(i: IncidentRecord): string[] {
  const points: string[] = [];
  const offs = i.commands.filter((c) => c.verb === 'off');
  if (offs.length > 0 && i.proof === undefined) points.push(`Nothing has proven ${i.node} off.`);
  for (const c of i.commands)
    if (c.verb !== 'status' && c.result === undefined)
      points.push(`Command ${c.n} (${c.verb} ${c.device}) has no result: it may have been carried out.`);
  const doubt = i.proof?.doubt ?? i.contradiction?.proof?.doubt;
  if (doubt?.device !== undefined)
    points.push(`${i.node} was proven off by its device ${doubt.device}, which was found to be another machine's.`);
  else if (doubt !== undefined || i.contradiction !== undefined)
    points.push(
      `${i.node} spoke in the boot that a proof of off had ended: its power device may be another machine's.`,
    );
  if (i.powerOn?.wanted === true && i.powerOn.done !== true) points.push('Its power-on is wanted, and not done.');
  if (i.powerOn?.done === true && i.powerOn.ok === false)
    points.push(`Its power-on was given up: ${i.powerOn.detail ?? 'without a word why'}`);
  if (i.order !== undefined && i.order.done !== true)
    points.push(`The order "power ${i.order.action}" by ${i.order.by} is not carried out.`);
  if (i.order?.done === true && i.order.ok === false)
    points.push(`The order "power ${i.order.action}" failed: ${i.order.detail ?? 'without a word why'}`);
  return points;
}

function ofWork({ incident, jobs }: ReportFacts): string[] {
  const waiting = incident.recovery
    .filter((r) => r.state !== 'running' && r.state !== 'skipped')
    .map(
      (r) => `Workload ${r.workload} does not run again (${r.state}${r.detail === undefined ? '' : `: ${r.detail}`}).`,
    );
  const failed = jobs
    .filter((j) => j.status === 'Errored')
    .map((j) => `Job ${j.id} (${j.kind}) failed: ${j.error || 'see its log'}`);
  const running = jobs.filter((j) => !isEndedJob(j)).map((j) => `Job ${j.id} (${j.kind}) is ${j.status}.`);
  return [...waiting, ...failed, ...running];
}

function ofNode({ incident, events }: ReportFacts): string[] {
  const points: string[] = [];
  const service = events.findLast((e) => e.kind === 'in-service' || e.kind === 'out-of-service');
  if (service?.kind === 'out-of-service')
    points.push(
      `${incident.node} is not in service: ${(service.data as EventMap['out-of-service']).reasons.join('; ')}`,
    );
  for (const alarm of standing(events)) points.push(`Alarm ${alarm.code} stands: ${alarm.message}`);
  return points;
}

function standing(events: readonly PublicEvent[]): AlarmRecord[] {
  const last = new Map<string, AlarmRecord>();
  for (const e of events) {
    if (e.kind !== 'alarm') continue;
    const alarm = e.data as AlarmRecord;
    last.set(alarmKey(alarm.code, alarm.subject), alarm);
  }
  return [...last.values()].filter((a) => a.cleared === undefined);
}
