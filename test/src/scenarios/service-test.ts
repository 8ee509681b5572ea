import { strict as assert } from 'node:assert';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceTestResult } from '#contracts';
import { fingerprint, sameFingerprint } from '../../../lab/src/fleet/fingerprint.js';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { muster } from '../command-line.js';
import { freeHosts, statuses } from '../operations.js';
import type { Scenario } from '../scenario.js';

const SERVICE = 'tested';

interface Tested extends Pick<ServiceTestResult, 'steps' | 'wrong'> {
  ok: boolean;
}

async function test(fleet: Fleet, host: string): Promise<Tested & { code: number | undefined }> {
  const done = await muster(fleet.api.base, 'service', 'test', SERVICE, '--on', fleet.nodeOf(host), '--json');
  assert.notEqual(done.out, '', done.err);
  return { ...(JSON.parse(done.out) as Tested), code: done.code };
}

/** Replaces a text of one file of the service for as long as `work` takes. */
async function withFile<T>(file: string, change: (text: string) => string, work: () => Promise<T>): Promise<T> {
  const before = await readFile(file, 'utf8');
  const after = change(before);
  assert.notEqual(after, before, `${file} was not changed`);
  await writeFile(file, after);
  try {
    return await work();
  } finally {
    await writeFile(file, before);
  }
}

const lines = (t: Tested): string[] => t.wrong.map((w) => `${w.file}: ${w.what}`);

export const R17: Scenario = {
  name: 'R17',
  needsNetns: true,
  title:
    'a service is tested on a node out of service: right as it was made; a site that is not idempotent, a check that sees no drift and a cleanup that leaves things are named; the node stays out',
  async run(fleet, say) {
    const folder = join(fleet.services, SERVICE);
    const [host] = await freeHosts(fleet, 1);
    assert.ok(host !== undefined, 'the fleet has too few hosts');
    await muster(fleet.api.base, 'service', 'new', SERVICE, '--dir', fleet.services);
    try {
      const serving = (await fleet.nodes()).find((n) => n.inService);
      assert.ok(serving !== undefined, 'no node is in service');
      const refused = await muster(fleet.api.base, 'service', 'test', SERVICE, '--on', serving.name);
      assert.equal(refused.code, 1);
      assert.match(refused.err, /is Allocated; take it out first: muster nodes decommission/);

      const before = await fingerprint(fleet, host);
      const [status] = await statuses(fleet, [host]);
      const begun = performance.now();
      const good = await test(fleet, host);
      assert.deepEqual([good.code, good.ok, lines(good)], [0, true, []]);
      say(`right in ${((performance.now() - begun) / 1000).toFixed(0)} s`);

      const again = await withFile(
        join(folder, 'tasks/site.yml'),
        (text) => `${text}- name: Note the time\n  ansible.builtin.command: date\n`,
        () => test(fleet, host),
      );
      assert.equal(again.code, 1);
      assert.deepEqual(
        lines(again).map((l) => l.replace(/:\d+:/, ':N:')),
        ['tasks/site.yml:N: a second run changed "Note the time": it is not idempotent'],
      );

      const blind = await withFile(
        join(folder, 'tasks/check.yml'),
        (text) => text.replace(/ {4}files:\n[^]*$/, ''),
        () => test(fleet, host),
      );
      assert.equal(blind.code, 1);
      assert.ok(
        lines(blind).length === 2 && lines(blind).every((l) => l.startsWith('tasks/check.yml: says ok although ')),
        lines(blind).join('\n'),
      );

      const messy = await withFile(
        join(folder, 'tasks/cleanup.yml'),
        () => '- name: Take it away\n  ansible.builtin.debug: { msg: tomorrow }\n',
        () => test(fleet, host),
      );
      assert.equal(messy.code, 1);
      assert.match(
        lines(messy).join('\n'),
        new RegExp(
          `^tasks/cleanup.yml: left unit ${SERVICE}.service, /srv/${SERVICE}, port tcp 8080, process \\d+ \\(.*http.server.*\\)[^\\n]*$`,
        ),
      );

      // With its cleanup whole again a test takes away what the one before has left.
      const mended = await test(fleet, host);
      assert.deepEqual([mended.code, lines(mended)], [0, []]);
      const left = sameFingerprint(before, await fingerprint(fleet, host));
      assert.deepEqual(left, { files: [], processes: [] });
      const node = await fleet.node(host);
      assert.deepEqual([node.status, node.inService, node.provisioned], [status, false, undefined]);
      const listed = await muster(fleet.api.base, 'service', 'list', '--json');
      const { items } = JSON.parse(listed.out) as { items: { name: string; nodes: string[] }[] };
      assert.equal(
        items.find((s) => s.name === SERVICE),
        undefined,
        'a test is no set-up',
      );
      const mirror = items.find((s) => s.name === 'mirror');
      assert.ok(mirror?.nodes.includes(serving.name), listed.out);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
