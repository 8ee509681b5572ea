import type { FeedEvent } from '../fleet/event-feed.js';
import type { Fleet } from '../fleet/fleet.js';
import { fingerprint, sameFingerprint } from '../fleet/fingerprint.js';
import { moveOf, type Act2, type Seen, type Step } from './story.js';

type Tell = (step: Step, ms: number, words: string) => void;

/**
 * A host dies with work on it. Every time is taken outside the services where there is an outside: BMC log, ledger.
 * Writes into `result` as it goes: what was seen before something failed is told all the same.
 */
export async function act1(fleet: Fleet, victim: string, result: Seen, tell: Tell): Promise<void> {
  const node = fleet.nodeOf(victim);
  const names = (await fleet.workloads()).filter((w) => w.assignment?.node === node).map((w) => w.name);
  const mark = fleet.events.mark();
  const { ns: deathNs } = await fleet.lab<{ ns: number }>('kill', victim);
  const seen = (event: Step, ns: number | bigint, words: string): void => {
    const ms = Math.round((Number(ns) - deathNs) / 1e6);
    result.timeline.push({ event, ms });
    tell(event, ms, words);
  };
  seen('killed', deathNs, `${victim} dies as by a kernel crash; its BMC still reads "on"`);

  const suspect = await fleet.events.verdict(node, 'SUSPECT', 10_000, mark);
  seen('suspect', suspect.arrivedNs, 'more than half of its observers miss it');
  const down = await fleet.events.verdict(node, 'DOWN', 10_000, mark);
  seen('down', down.arrivedNs, String(down.data['reason']));

  const off = await fleet.until(
    'the off to reach the BMC',
    async () => (await fleet.bmc(victim)).find((e) => e.op === 'set' && e.value === '0' && e.ns > deathNs),
    30_000,
  );
  seen('off_sent', off.ns, `its BMC got "power off"`);
  const fenced = await fleet.events.incident(node, 'fenced', 30_000, mark);
  seen('off_confirmed', fenced.arrivedNs, 'read back as off, twice');

  const moves = await fleet.until(
    `${names.join(', ')} to run elsewhere`,
    async () => {
      const histories = await fleet.histories();
      const all = names.map((n) => histories.find((h) => h.workload === n));
      const moved = all.flatMap((h) => (h === undefined ? [] : (moveOf(h, victim, deathNs) ?? [])));
      return moved.length === names.length ? { moved, all } : undefined;
    },
    60_000,
  );
  const lastStart = Math.max(...moves.all.map((h) => h?.runs.find((r) => r.fromNs > deathNs)?.fromNs ?? 0));
  seen('workloads_running', lastStart, moves.moved.map((m) => `${m.name} on ${m.to}`).join(', '));

  const up = await fleet.events.verdict(node, 'UP', 120_000, mark);
  seen('booted', up.arrivedNs, 'powered on by its BMC again, booted, heard');
  const check = await fleet.events.until('its check', (e) => e.kind === 'check' && e.key === node, 120_000, mark);
  if (check.data['pass'] === false) {
    seen('check_failed', check.arrivedNs, findings(check.data));
    const isResetup = (e: FeedEvent): boolean => e.kind === 'resetup' && e.key === node;
    const resetup = await fleet.events.until('its re-setup', isResetup, 120_000, mark);
    if (resetup.data['ok'] === true)
      seen('resetup_done', resetup.arrivedNs, 'cleaned up and set up for its host group');
  } else seen('check_passed', check.arrivedNs, 'its configuration is as it was');
  const back = await fleet.events.inService(node, 60_000, mark);
  seen('in_service', back.arrivedNs, 'serves again');

  const offs = (await fleet.bmc(victim)).filter((e) => e.op === 'set' && e.value === '0' && e.ns > deathNs);
  result.bmc.off_commands = offs.length;
  const histories = await fleet.histories();
  result.workloads = names.flatMap((n) => {
    const h = histories.find((x) => x.workload === n);
    return h === undefined ? [] : (moveOf(h, victim, deathNs) ?? []);
  });
}

function findings(data: Record<string, unknown>): string {
  const result = data['result'] as { findings?: { service: string; result: string; why: string }[] } | undefined;
  const bad = (result?.findings ?? []).filter((f) => f.result !== 'ok');
  return bad.map((f) => `${f.service} ${f.result}: ${f.why}`).join('; ');
}

/** Only a network is lost: nothing may be powered off, and nothing touched on the node when it is back. */
export async function act2(fleet: Fleet, host: string, cutMs: number, tell: (words: string) => void): Promise<Act2> {
  const node = fleet.nodeOf(host);
  const before = await fingerprint(fleet, host);
  const since = process.hrtime.bigint();
  const mark = fleet.events.mark();
  await fleet.lab('cut', host, '--network', 'management');
  tell(`the management network of ${host} is cut for ${cutMs / 1000} s`);
  const degraded = await fleet.events.verdict(node, 'DEGRADED', 10_000, mark);
  tell(`DEGRADED: ${String(degraded.data['reason'])}`);
  const rest = cutMs - Number(process.hrtime.bigint() - since) / 1e6;
  await new Promise((r) => setTimeout(r, rest));
  const healed = fleet.events.mark();
  await fleet.lab('heal', host);
  tell('healed');
  const check = await fleet.events.until('its check', (e) => e.kind === 'check' && e.key === node, 60_000, healed);
  tell(`check ${check.data['pass'] === true ? 'passed' : 'failed'}`);
  await fleet.until('it to be in service', async () => ((await fleet.node(host)).inService ? true : undefined), 60_000);
  const diff = sameFingerprint(before, await fingerprint(fleet, host));
  let writes = 0;
  for (const h of fleet.info.hosts)
    writes += (await fleet.bmc(h.name)).filter((e) => e.op === 'set' && e.ns > Number(since)).length;
  tell(
    `${diff.files.length} files changed, ${diff.processes.length} processes restarted, ${writes} power commands ` +
      `(${Object.keys(before.files).length} files and ${Object.keys(before.processes).length} processes compared)`,
  );
  return {
    cut_ms: cutMs,
    degraded: true,
    off_commands: writes,
    check: check.data['pass'] === true ? 'pass' : 'fail',
    files_changed: diff.files,
    processes_restarted: diff.processes,
  };
}
