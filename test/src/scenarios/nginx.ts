import { strict as assert } from 'node:assert';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fingerprint, sameFingerprint, type Fingerprint } from '../../../lab/src/fleet/fingerprint.js';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { assertNoPowerWrites, nowNs } from '../observations.js';
import { completed, idleWorkers, start } from '../operations.js';
import { checkAfterLoss, findings, onHost, resetupAfter } from '../returns.js';
import type { Scenario } from '../scenario.js';

const EXAMPLE = join(import.meta.dirname, '..', '..', '..', '..', 'examples', 'services', 'nginx');
const PAGE = '/var/www/html/index.html';
const SITE = '/etc/nginx/sites-available/muster';
const CONFIGURED = ['/etc', '/srv', '/var/www'];
/** Damage by hand, and how the example's own check names it. */
const DAMAGES: readonly (readonly [string, string])[] = [
  [`echo defaced > ${PAGE}`, `drift: ${PAGE} is not as it was installed`],
  [`sed -i s/8088/8089/ ${SITE}`, `drift: ${SITE} is not as it was installed`],
  ['systemctl stop nginx.service', 'broken: nginx.service is inactive'],
];

async function serves(fleet: Fleet, host: string): Promise<void> {
  const answer = await onHost(fleet, host, 'curl -sf http://127.0.0.1:8088/status');
  assert.deepEqual(JSON.parse(answer), { service: 'nginx', node: fleet.nodeOf(host) });
}

/** Processes of nginx may have been ended, and nothing else; every file is what it was. */
function assertAlone(before: Fingerprint, after: Fingerprint): void {
  const { files, processes } = sameFingerprint(before, after);
  assert.deepEqual(
    { files, processes: processes.filter((p) => !p.startsWith('nginx: ')) },
    { files: [], processes: [] },
  );
}

export const R14nginx: Scenario = {
  name: 'R14nginx',
  needsNetns: true,
  // Of its own: its workers get one more service.
  nodes: 3,
  tools: { names: ['nginx', 'curl'], install: 'npm run setup -- --for long' },
  title:
    'nginx as in the examples: a page or a site that was edited by hand and a stopped nginx are found by its own check when its node returns, and repaired alone, no other file or process touched',
  async run(fleet, say) {
    const since = nowNs();
    const [host] = await idleWorkers(fleet);
    assert.ok(host !== undefined, 'the fleet has no idle worker');
    await cp(EXAMPLE, join(fleet.services, 'nginx'), { recursive: true });
    // The hosts have the packages of this machine, and no way to more.
    const { extra_vars: globals } = await fleet.api.get<{ extra_vars: Record<string, unknown> }>('/info/globals');
    await fleet.api.post('/globals', { extra_vars: { ...globals, nginx_install: false } });
    await completed(fleet, await start(fleet, '/maintenance/nodes', { nodes: [fleet.nodeOf(host)] }), 180_000);
    await serves(fleet, host);

    const before = await fingerprint(fleet, host, CONFIGURED);
    for (const [damage, told] of DAMAGES) {
      const began = nowNs();
      const check = await checkAfterLoss(fleet, host, () => onHost(fleet, host, damage));
      assert.deepEqual(findings(check), { nginx: told });
      assert.deepEqual((await resetupAfter(fleet, check)).services, ['nginx'], 'others were set up with it');
      await serves(fleet, host);
      assertAlone(before, await fingerprint(fleet, host, CONFIGURED));
      say(`${told.split(' ')[0]} repaired ${((nowNs() - began) / 1e9).toFixed(1)} s after the cut`);
    }
    await assertNoPowerWrites(fleet, since);
  },
};
