import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobRecord, NodeRecord, WorkloadRecord } from '#contracts';
import { powerOf } from '../bmc.js';
import { onControl } from '../controls/on-control.js';
import { Api } from '../fleet/api.js';
import type { LabFolder } from '../folder.js';
import { natsUrls, type HostPlan } from '../plan.js';
import { run } from '../run.js';
import { bmcPassword } from '../secrets.js';
import { parseBmcLine } from './bmc-log.js';
import { findViolations, unjudged, type Evidence, type Violation } from './checks.js';
import type { StoredHistory } from './incident-history.js';
import { cutBefore, withKept } from './kept-history.js';
import { leakedTools, secretsInArgv, secretsInTexts } from './leaks.js';
import { historyOf, parseBeat, type WorkloadHistory } from './ledger.js';

export interface AuditAnswer {
  ok: boolean;
  violations: Violation[];
  /** Power writes that nothing can be said of. */
  unjudged: string[];
  workloads: WorkloadHistory[];
}

const lines = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);

/** The store's history, read by a small program in the control namespace: only from there NATS is reached. */
async function storedHistory(folder: LabFolder): Promise<StoredHistory> {
  const plan = folder.plan();
  const program = join(import.meta.dirname, 'incident-history.js');
  const servers = natsUrls(plan).management.join(',');
  const argv = [process.execPath, program, servers, folder.at('etc', 'creds', 'inventory.json')];
  const [command, ...args] = onControl(folder, plan, argv);
  return JSON.parse(await run(command, args)) as StoredHistory;
}

const bootsOf = (folder: LabFolder, h: HostPlan): Evidence['boots'] =>
  lines(folder.host(h.name, 'boots.jsonl')).flatMap((line) =>
    line === '' ? [] : [{ host: h.name, ...(JSON.parse(line) as { boot: string; ns: number }) }],
  );

/** Every secret of the lab by name: none may be seen anywhere but in its own file. */
function secretsOf(folder: LabFolder): Record<string, string> {
  const secrets: Record<string, string> = { 'bmc password': bmcPassword(folder) };
  for (const name of ['datagram', 'secrets'])
    secrets[`${name} key`] = readFileSync(folder.at('etc', 'keys', `${name}.key`), 'utf8').trim();
  // A `.creds` file holds the seed of the `.json` file beside it.
  for (const file of readdirSync(folder.at('etc', 'creds')).filter((f) => f.endsWith('.json')))
    secrets[`seed of ${file}`] = (
      JSON.parse(readFileSync(folder.at('etc', 'creds', file), 'utf8')) as { seed: string }
    ).seed;
  return secrets;
}

/** Everything that is logged: by the services, and by the units of the hosts. */
function logTexts(folder: LabFolder, hosts: readonly HostPlan[]): Record<string, string> {
  const folders = ['log', ...hosts.flatMap((h) => [`hosts/${h.name}/log`, `hosts/${h.name}/root/var/log/units`])];
  return Object.fromEntries(
    folders
      .filter((f) => existsSync(folder.at(f)))
      .flatMap((f) => readdirSync(folder.at(f)).map((name) => join(f, name)))
      .map((file) => [file, readFileSync(folder.at(file), 'utf8')]),
  );
}

/** Gathers what the outside and the API show, and decides. */
export async function runAudit(folder: LabFolder): Promise<AuditAnswer> {
  folder.running();
  const plan = folder.plan();
  const api = new Api(folder.apis, folder.token);
  const [stored, nodes, jobs, workloads, events, alarms, status] = await Promise.all([
    storedHistory(folder),
    api.all<NodeRecord>('/v1/nodes'),
    api.all<JobRecord>('/v1/jobs'),
    api.all<WorkloadRecord>('/v1/workloads'),
    api.all<unknown>('/v1/events?limit=1000'),
    api.get<unknown>('/v1/alarms'),
    api.get<unknown>('/v1/status'),
  ]);
  const jobLogs = await Promise.all(jobs.map((j) => api.text(`/v1/jobs/${j.id}/log`)));
  const answers = { nodes, jobs, workloads, events, alarms, status, incidents: stored.incidents, 'job logs': jobLogs };
  const secrets = secretsOf(folder);
  const texts = {
    ...logTexts(folder, plan.hosts),
    ...Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, JSON.stringify(answer)])),
  };
  // Before they are read: on a busy machine the ledger of an hour takes longer than a beat may be late.
  const [nowNs, nowAt] = [Number(process.hrtime.bigint()), Date.now()];
  const beats = readdirSync(folder.at('ledger')).flatMap((f) =>
    lines(folder.at('ledger', f)).flatMap((line) => parseBeat(line) ?? []),
  );
  const evidence: Evidence = {
    nodeOf: Object.fromEntries(plan.hosts.map((h) => [h.name, h.node])),
    powered: Object.fromEntries(plan.hosts.map((h) => [h.name, powerOf(folder, h) === 'on'])),
    workloads,
    histories: historyOf(beats),
    nowNs,
    nowAt,
    boots: plan.hosts.flatMap((h) => bootsOf(folder, h)),
    bmc: plan.hosts.flatMap((h) =>
      lines(folder.at('bmc', h.name, 'log.jsonl')).flatMap((line) => parseBmcLine(h.name, line) ?? []),
    ),
    nodes,
    incidents: withKept(folder.at('run', 'audited-incidents'), stored.incidents),
    cutBefore: cutBefore(stored.incidents),
    jobs,
    reservations: stored.reservations ?? { held: {}, pending: {}, generation: 0 },
    leaked: leakedTools(folder.path),
    secretsIn: [...secretsInTexts(texts, secrets), ...secretsInArgv(folder.path, secrets)],
  };
  const violations = findViolations(evidence);
  return { ok: violations.length === 0, violations, unjudged: unjudged(evidence), workloads: evidence.histories };
}
