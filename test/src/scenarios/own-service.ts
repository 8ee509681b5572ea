import { strict as assert } from 'node:assert';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { AlarmRecord } from '#contracts';
import { fingerprint, sameFingerprint, type Fingerprint } from '../../../lab/src/fleet/fingerprint.js';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { alarm, assertNoPowerWrites, nowNs } from '../observations.js';
import { completed, idleWorkers, start } from '../operations.js';
import { checkAfterLoss, findings, onHost, resetupAfter } from '../returns.js';
import type { Scenario } from '../scenario.js';

const MUSTER = join(import.meta.dirname, '..', '..', '..', 'apps', 'cli', 'src', 'main.js');
const SERVICE = 'web';
const PAGE = `/srv/${SERVICE}/index.html`;
/** All that the service, its neighbours, the agent and the machine itself are configured by. */
const CONFIGURED = ['/etc', '/srv'];

/** A service that `muster service new` wrote, on a node that has been set up with it. */
class OwnService {
  private constructor(
    private readonly fleet: Fleet,
    readonly host: string,
    private readonly folder: string,
  ) {}

  static async setUp(fleet: Fleet): Promise<OwnService> {
    const [host] = await idleWorkers(fleet);
    assert.ok(host !== undefined, 'the fleet has no idle worker');
    await execa(process.execPath, [MUSTER, 'service', 'new', SERVICE, '--dir', fleet.services]);
    const job = await start(fleet, '/maintenance/nodes', { nodes: [fleet.nodeOf(host)] });
    await completed(fleet, job, 180_000);
    return new OwnService(fleet, host, join(fleet.services, SERVICE));
  }

  /** By hand, on the node. */
  byHand(command: string): Promise<string> {
    return onHost(this.fleet, this.host, command);
  }

  page(): Promise<string> {
    return this.byHand(`cat ${PAGE}`);
  }

  /** As its author would. Answers the text as it was. */
  async edit(file: string, change: (text: string) => string): Promise<string> {
    const path = join(this.folder, file);
    const before = await readFile(path, 'utf8');
    const after = change(before);
    assert.notEqual(after, before, `${file} was not changed`);
    await writeFile(path, after);
    return before;
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(join(this.folder, file), text);
  }

  /** Of its process, as a fingerprint names it. */
  async process(): Promise<string> {
    const pid = (await this.byHand(`systemctl show -p MainPID --value ${SERVICE}.service`)).trim();
    const start = (await this.byHand(`sed 's/.*) //' /proc/${pid}/stat | cut -d' ' -f20`)).trim();
    return `${pid}@${start}`;
  }

  fingerprint(): Promise<Fingerprint> {
    return fingerprint(this.fleet, this.host, CONFIGURED);
  }

  others(): Promise<Fingerprint[]> {
    const hosts = this.fleet.info.hosts.map((h) => h.name).filter((h) => h !== this.host);
    return Promise.all(hosts.map((h) => fingerprint(this.fleet, h, CONFIGURED)));
  }
}

/** R14: repaired alone. Every other file and process of the fleet is what it was. */
async function driftsAndIsRepairedAlone(fleet: Fleet, web: OwnService): Promise<void> {
  // One after the other: each is a process there, too.
  const [page, old] = [await web.page(), await web.process()];
  const [before, others] = await Promise.all([web.fingerprint(), web.others()]);
  const check = await checkAfterLoss(fleet, web.host, () => web.byHand(`echo defaced > ${PAGE}`));
  assert.deepEqual(findings(check), { [SERVICE]: `drift: ${PAGE} is not as it was installed` });
  assert.deepEqual((await resetupAfter(fleet, check)).services, [SERVICE], 'others were set up with it');
  assert.equal(await web.page(), page);

  const own = await web.process();
  assert.notEqual(own, old, `${SERVICE} was not set up again`);
  const after = await web.fingerprint();
  const [was, is] = [`${old} ${before.processes[old]}`, `${own} ${after.processes[own]}`];
  assert.deepEqual(changes(before, after), { files: [], ended: [was], begun: [is] });
  for (const [i, now] of (await web.others()).entries())
    assert.deepEqual(changes(others[i] as Fingerprint, now), NOTHING);
}

/** Files that differ, and processes that are in one of them only. */
function changes(before: Fingerprint, after: Fingerprint): { files: string[]; ended: string[]; begun: string[] } {
  const missing = (of: Fingerprint, from: Fingerprint): string[] =>
    Object.entries(of.processes).flatMap(([id, line]) => (id in from.processes ? [] : [`${id} ${line}`]));
  return { files: sameFingerprint(before, after).files, ended: missing(before, after), begun: missing(after, before) };
}
const NOTHING = { files: [], ended: [], begun: [] };

/** R12: comments in every kind of file. */
async function commentsChangeNothing(fleet: Fleet, web: OwnService): Promise<void> {
  const before = await web.fingerprint();
  const check = await checkAfterLoss(fleet, web.host, async () => {
    for (const file of ['service.yml', 'defaults.yml', 'tasks/site.yml', 'tasks/check.yml', 'tasks/cleanup.yml'])
      await web.edit(file, (text) => `# another comment\n${text}`);
    for (const template of ['index.html.j2', `${SERVICE}.service.j2`])
      await web.edit(`templates/${template}`, (text) => `{# another comment #}${text}`);
  });
  assert.equal(check.data['pass'], true, JSON.stringify(check.data));
  await fleet.events.inService(check.key, 60_000, fleet.events.seen.indexOf(check));
  assert.deepEqual(changes(before, await web.fingerprint()), NOTHING);
}

/** R2. */
async function changedMeanwhile(fleet: Fleet, web: OwnService): Promise<void> {
  const check = await checkAfterLoss(fleet, web.host, () =>
    web.edit('defaults.yml', (text) => text.replace('it works', 'it works otherwise')),
  );
  assert.deepEqual(Object.keys(findings(check)), [SERVICE]);
  await resetupAfter(fleet, check);
  assert.match(await web.page(), /^it works otherwise on /);
}

/** R5. */
async function failsAndIsRetried(fleet: Fleet, web: OwnService): Promise<void> {
  const node = fleet.nodeOf(web.host);
  const page = await web.page();
  let content = '';
  const check = await checkAfterLoss(fleet, web.host, async () => {
    await web.byHand(`echo defaced > ${PAGE}`);
    content = await web.edit(
      'tasks/site.yml',
      (text) => `- name: Fetch the page\n  ansible.builtin.fail:\n    msg: its source is gone\n${text}`,
    );
  });
  assert.equal((await resetupAfter(fleet, check, false)).status, 'Errored');
  const why = /Fetch the page: its source is gone/;
  const view = await fleet.until(
    `${node} to be in maintenance`,
    async () => {
      const n = await fleet.node(web.host);
      return n.pendingReturn?.held === undefined ? undefined : n;
    },
    10_000,
  );
  assert.equal(view.inService, false);
  assert.match(view.maintenance?.reason ?? '', why);
  const told = await fleet.until<AlarmRecord>('the alarm', () => alarm(fleet, 'resetup-failed', node), 10_000);
  assert.match(told.message, why);

  await web.write('tasks/site.yml', content);
  const { job } = await fleet.api.post<{ job: string }>('/v1/operations', { kind: 'resetup', nodes: [node] });
  await completed(fleet, await fleet.job(job), 120_000);
  await fleet.until('to serve', async () => ((await fleet.node(web.host)).inService ? true : undefined), 20_000);
  await fleet.until(
    'the alarm to end',
    async () => ((await alarm(fleet, 'resetup-failed', node)) === undefined ? true : undefined),
    20_000,
  );
  assert.equal(await web.page(), page);
}

export const R14: Scenario = {
  name: 'R14',
  also: ['R12', 'R2', 'R5'],
  needsNetns: true,
  // Of its own: its workers get one more service.
  nodes: 3,
  title:
    "a user's own service drifts: found when its node returns, and repaired alone, no other file or process touched; a comment in its content changes nothing; its configuration changed meanwhile: set up again; a re-setup that fails: maintenance with the reason, and an operator can retry",
  async run(fleet, say) {
    const since = nowNs();
    const web = await OwnService.setUp(fleet);
    const steps = {
      R14: driftsAndIsRepairedAlone,
      R12: commentsChangeNothing,
      R2: changedMeanwhile,
      R5: failsAndIsRetried,
    };
    for (const [name, step] of Object.entries(steps)) {
      const began = nowNs();
      await step(fleet, web).catch((e: unknown) => {
        throw new Error(`${name}: ${e instanceof Error ? e.message : String(e)}`, { cause: e });
      });
      say(`${name} ${((nowNs() - began) / 1e9).toFixed(1)} s`);
    }
    await assertNoPowerWrites(fleet, since);
  },
};
