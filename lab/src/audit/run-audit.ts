import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobRecord, NodeRecord, WorkloadRecord } from '#contracts';
import { powerOf } from '../bmc.js';
import { Api } from '../fleet/api.js';
import type { LabFolder } from '../folder.js';
import { natsUrls } from '../plan.js';
import { run } from '../run.js';
import { bmcPassword } from '../secrets.js';
import { parseBmcLine } from './bmc-log.js';
import { findViolations, type Evidence, type Violation } from './checks.js';
import type { StoredHistory } from './incident-history.js';
import { leakedTools, secretsInArgv } from './leaks.js';
import { historyOf, parseBeat, type WorkloadHistory } from './ledger.js';

export interface AuditAnswer {
  ok: boolean;
  violations: Violation[];
  workloads: WorkloadHistory[];
}

const lines = (file: string): string[] => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []);

/** The store's history, read by a small program in the control namespace: only from there NATS is reached. */
async function storedHistory(folder: LabFolder): Promise<StoredHistory> {
  const plan = folder.plan();
  const program = join(import.meta.dirname, 'incident-history.js');
  const command = [process.execPath, program, natsUrls(plan).management, folder.at('etc', 'creds', 'inventory.json')];
  const ns = plan.namespaces?.ctl;
  const [first, ...rest] = ns === undefined ? command : ['nsenter', `--net=/run/netns/${ns}`, ...command];
  return JSON.parse(await run(first as string, rest)) as StoredHistory;
}

/** Every secret of the lab by name: none may be seen anywhere but in its own file. */
function secretsOf(folder: LabFolder): Record<string, string> {
  const secrets: Record<string, string> = { 'bmc password': bmcPassword(folder) };
  for (const name of ['datagram', 'secrets'])
    secrets[`${name} key`] = readFileSync(folder.at('etc', 'keys', `${name}.key`), 'utf8').trim();
  for (const file of readdirSync(folder.at('etc', 'creds')))
    secrets[`seed of ${file}`] = (
      JSON.parse(readFileSync(folder.at('etc', 'creds', file), 'utf8')) as { seed: string }
    ).seed;
  return secrets;
}

/** Log files and API answers that show a secret. */
function secretsShown(folder: LabFolder, answers: Record<string, string>): string[] {
  const texts = { ...answers };
  for (const f of readdirSync(folder.at('log'))) texts[`log/${f}`] = readFileSync(folder.at('log', f), 'utf8');
  const secrets = secretsOf(folder);
  const shown = Object.entries(texts).flatMap(([where, text]) =>
    Object.entries(secrets).flatMap(([name, value]) => (text.includes(value) ? [`${where} (${name})`] : [])),
  );
  return [...shown, ...secretsInArgv(folder.path, secrets)];
}

/** Gathers what the outside and the API show, and decides. */
export async function runAudit(folder: LabFolder): Promise<AuditAnswer> {
  folder.running();
  const plan = folder.plan();
  const api = new Api(folder.api);
  const [stored, nodes, jobs, workloads, events] = await Promise.all([
    storedHistory(folder),
    api.all<NodeRecord>('/v1/nodes'),
    api.all<JobRecord>('/v1/jobs'),
    api.all<WorkloadRecord>('/v1/workloads'),
    api.all<unknown>('/v1/events?limit=1000'),
  ]);
  const beats = readdirSync(folder.at('ledger')).flatMap((f) =>
    lines(folder.at('ledger', f)).flatMap((line) => parseBeat(line) ?? []),
  );
  const evidence: Evidence = {
    nodeOf: Object.fromEntries(plan.hosts.map((h) => [h.name, h.node])),
    powered: Object.fromEntries(plan.hosts.map((h) => [h.name, powerOf(folder, h) === 'on'])),
    workloads,
    histories: historyOf(beats),
    nowNs: Number(process.hrtime.bigint()),
    bmc: plan.hosts.flatMap((h) =>
      lines(folder.at('bmc', h.name, 'log.jsonl')).flatMap((line) => parseBmcLine(h.name, line) ?? []),
    ),
    nodes,
    incidents: stored.incidents,
    jobs,
    reservations: stored.reservations ?? { held: {}, pending: {}, generation: 0 },
    leaked: leakedTools(folder.path),
    secretsIn: secretsShown(folder, {
      nodes: JSON.stringify(nodes),
      jobs: JSON.stringify(jobs),
      events: JSON.stringify(events),
    }),
  };
  const violations = findViolations(evidence);
  return { ok: violations.length === 0, violations, workloads: evidence.histories };
}
