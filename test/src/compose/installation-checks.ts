import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shownFiles } from '#bus/init/shown-files.js';
import { allHealthy, holds, same, seconds, type Check } from './check.js';
import { services } from './composition.js';

/** The two commands of docs/compose.md, on a machine that has nothing yet. */
export const installationChecks: readonly Check[] = [
  {
    name: 'host-asked',
    needs: [],
    title: 'without MUSTER_HOST nothing starts, and one line says why',
    async run({ composition }) {
      const { exitCode, stderr } = await composition.run(['up', '-d'], { without: ['MUSTER_HOST'] });
      holds('it started', exitCode !== 0);
      holds(`it says: ${stderr}`, stderr.includes('the name of this machine must be set'));
      return stderr.trim().split('\n').at(-1) ?? '';
    },
  },
  {
    name: 'init',
    needs: [],
    title: 'init prints the admin token alone on stdout; a second one prints none and changes nothing',
    async run(scene) {
      const { composition } = scene;
      const first = await composition.run(['run', '--rm', '-T', 'init']);
      holds(`init: ${first.stderr}`, first.exitCode === 0);
      holds('stdout is no token', /^[0-9a-f]{64}$/.test(first.stdout));
      scene.token = first.stdout;
      const before = composition.volumes();
      const second = await composition.run(['run', '--rm', '-T', 'init']);
      same('second init', [second.exitCode, second.stdout], [0, '']);
      same('volumes', composition.volumes(), before);
      return `${Object.keys(before).length} files and folders in ${composition.project}_* as before`;
    },
  },
  {
    name: 'host-told',
    needs: ['init'],
    title: 'a container that is not told which machine it runs on ends, with one line',
    async run({ composition }) {
      const lone = await composition.run(['run', '--rm', '-T', '--no-deps', '-e', 'MUSTER_HOST=', 'fencer']);
      holds('the fencer started', lone.exitCode !== 0);
      const said = lone.stderr.split('\n').filter((line) => line.startsWith('muster'));
      same('lines', said.length, 1);
      holds(`it says: ${lone.stderr}`, said[0]?.includes('MUSTER_HOST and MUSTER_HOST_ADDRESSES must') === true);
      return said[0] ?? '';
    },
  },
  {
    name: 'up',
    needs: ['init'],
    title: 'all services come up, and pass their health checks',
    async run({ composition }) {
      const since = performance.now();
      await composition.done('up', '-d', '--no-build');
      await allHealthy(composition);
      return `${services.join(', ')} healthy after ${seconds(since)}`;
    },
  },
];

/** What must hold at the end as at the beginning. */
export const closingChecks: readonly Check[] = [
  {
    name: 'init-again',
    needs: ['up'],
    title: 'init on a running installation changes nothing',
    async run({ composition }) {
      const settled = (): Record<string, string> =>
        Object.fromEntries(
          Object.entries(composition.volumes()).filter(([path]) => /_(config|shown-\w+)\//.test(path)),
        );
      const before = settled();
      const { exitCode, stdout } = await composition.run(['run', '--rm', '-T', 'init']);
      same('init', [exitCode, stdout], [0, '']);
      same('volumes', settled(), before);
      return `${Object.keys(before).length} files and folders as before`;
    },
  },
  {
    name: 'silent',
    needs: ['up'],
    title: 'no log and no container’s description holds a token or a key, and no file the admin token',
    async run({ composition, token }) {
      const keys = Object.values(shownFiles)
        .flat()
        .filter((file) => file.startsWith('keys/'))
        .map((file) =>
          readFileSync(join(composition.engine.volumes, `${composition.project}_config`, '_data', file), 'utf8'),
        );
      const seeds = keys.flatMap((text) => text.match(/[0-9a-f]{64}|S[A-Z2-7]{57}/g) ?? []);
      holds('no keys were read', seeds.length >= 4);
      const logs = await composition.run(['logs', '--no-color']);
      const described = await Promise.all(services.map((service) => composition.inspect(service)));
      const all = `${logs.stdout}${logs.stderr}${JSON.stringify(described)}`;
      holds('a secret is in the open', ![token, ...seeds].some((secret) => all.includes(secret)));
      const stored = composition.contents().filter((content) => content.includes(token));
      same('files that hold the admin token', stored.length, 0);
      return `${all.length} characters, ${seeds.length + 1} secrets`;
    },
  },
];
