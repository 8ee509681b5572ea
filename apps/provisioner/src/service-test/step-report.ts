import type { Finding } from '#contracts';
import { findingsOf, parseEvent, worse } from '../ansible/ansible-events.js';
import { readSnapshot, type HostSnapshot } from './host-snapshot.js';

/** A task, and where its author finds it: `tasks/site.yml:12`; undefined: it is no task of the service. */
export interface TaskAt {
  task: string;
  at?: string;
}

/** What the event lines of one part of a service's test say. */
export interface StepReport {
  /** It came to its end, and no task has failed. */
  ok: boolean;
  failed?: TaskAt & { message: string };
  changed: TaskAt[];
  /** Of the service; undefined: nothing was told. */
  finding?: Finding;
  /** Files that were changed by hand, each with what the check said then. */
  edited: { path: string; finding?: Finding }[];
  /** `templates/web.conf.j2` → SHA-256 of what it renders to. */
  rendered: [source: string, sha256: string][];
  snapshot?: HostSnapshot;
}

/**
 * @param message why it is not ok, where no task says so: the run was ended, or Ansible could not begin
 * @param folder of the service: its tasks may be told by their own place or by that in the folder of the run
 */
export function stepReport(
  lines: readonly string[],
  o: { host: string; service: string; folder: string; ok: boolean; message?: string },
): StepReport {
  const report: StepReport = { ok: o.ok, changed: [], edited: [], rendered: [] };
  const failures: (TaskAt & { message: string })[] = [];
  for (const line of lines) {
    const event = parseEvent(line);
    if (event === undefined || event['host'] !== o.host) continue;
    if (event['event'] === 'task') {
      const at = taskAt(event, o);
      if (event['status'] === 'failed' || event['status'] === 'unreachable')
        if (event['ignored'] !== true) failures.push({ ...at, message: textOf(event['message']) });
      if (event['status'] === 'ok' && event['changed'] === true) report.changed.push(at);
    } else if (event['event'] === 'data') takeData(report, event['data'], o.service);
  }
  if (!o.ok) {
    // The one that Muster's own tasks end with only repeats what the service's has said.
    const last = failures.findLast((f) => f.at !== undefined) ?? failures.at(-1);
    report.failed = last ?? { task: '', message: o.message ?? 'it did not come to its end' };
  }
  return report;
}

function takeData(report: StepReport, data: unknown, service: string): void {
  if (typeof data !== 'object' || data === null) return;
  const told = data as Record<string, unknown>;
  if (typeof told['edited'] === 'string') report.edited.push({ path: told['edited'] });
  const place = report.edited.at(-1) ?? report;
  for (const finding of findingsOf(told))
    if (finding.service === service) place.finding = worse(place.finding, finding);
  if (Array.isArray(told['rendered'])) report.rendered.push(...told['rendered'].filter(isPair));
  const snapshot = readSnapshot(told['snapshot']);
  if (snapshot !== undefined) report.snapshot = snapshot;
}

const isPair = (x: unknown): x is [string, string] =>
  Array.isArray(x) && x.length === 2 && x.every((part) => typeof part === 'string');

const textOf = (x: unknown): string => (typeof x === 'string' ? x : (JSON.stringify(x) ?? ''));

function taskAt(event: Record<string, unknown>, o: { service: string; folder: string }): TaskAt {
  const [task, path] = [textOf(event['task']), textOf(event['path'])];
  // Ansible puts the role's name before it, or the folder that it was taken from.
  const role = `${o.service} : `;
  const inRole = task.startsWith(role) ? 0 : task.indexOf(`/services/${role}`);
  const name = inRole < 0 ? task : task.slice(task.indexOf(role, inRole) + role.length);
  const marks = [`${o.folder}/`, `/services/${o.service}/`];
  const at = marks.map((mark) => path.indexOf(mark) + mark.length).find((end, i) => end >= (marks[i]?.length ?? 0));
  return at === undefined ? { task: name } : { task: name, at: path.slice(at) };
}

/** With every text of it passed through this: what comes from a node may hold a secret. */
export function maskedReport(report: StepReport, mask: (text: string) => string): StepReport {
  const finding = (f: Finding): Finding => ({ ...f, why: mask(f.why) });
  const task = <T extends TaskAt>(t: T): T => ({ ...t, task: mask(t.task) });
  return {
    ...report,
    ...(report.failed && { failed: { ...task(report.failed), message: mask(report.failed.message) } }),
    changed: report.changed.map(task),
    ...(report.finding && { finding: finding(report.finding) }),
    edited: report.edited.map((e) => ({ ...e, ...(e.finding && { finding: finding(e.finding) }) })),
    ...(report.snapshot && {
      snapshot: {
        ...report.snapshot,
        processes: report.snapshot.processes.map((p) => ({ ...p, command: mask(p.command) })),
      },
    }),
  };
}
