import { until } from '../../../lab/src/until.js';
import { allHealthy, ask, holds, same, type Check, type Scene } from './check.js';
import { services } from './composition.js';

const others = services.filter((service) => service !== 'nats');
const name = 'kept-in-a-copy';

/** An inventory looks at the store as it starts. */
const SAID_MS = 30_000;
const LOOK_MS = 500;

/** Its services are up, have what it had, power nothing off, and say which generation of it they are at: resolves with that. */
async function isOfEarlier(scene: Scene): Promise<number> {
  await allHealthy(scene.composition);
  const { desired } = await ask<{ desired: string }>(scene, 'GET', `/v1/workloads/${name}`);
  same('its workload', desired, 'stopped');
  const { paused } = await ask<{ paused?: { by: string } }>(scene, 'GET', '/v1/fencing');
  same('who paused fencing', paused?.by, 'muster store');
  const oneAlarm = async (): Promise<number | undefined> => {
    const { items } = await ask<{ items: { code: string; subject: string }[] }>(scene, 'GET', '/v1/alarms');
    const [first, ...more] = items.filter(({ code }) => code === 'store-loaded');
    // One of an earlier generation is ended by the same look.
    return first !== undefined && more.length === 0 ? Number(first.subject) : undefined;
  };
  return until('one alarm store-loaded', SAID_MS, oneAlarm, LOOK_MS);
}

/** "Copy the store, and put it back" of docs/compose.md. It ends what the checks before it have left under way. */
export const storeChecks: readonly Check[] = [
  {
    name: 'store',
    needs: ['up'],
    title:
      'the store is copied, and loaded into a NATS that keeps nothing: the records are there, and fencing is paused',
    async run(scene) {
      const { composition, machine } = scene;
      // Hosts of the lab have taken them with them, and NATS is published at the machine's addresses.
      await machine.plugAgain();
      const spec = { desired: 'stopped', recovery: { driver: 'ansible', spec: { exec: '/bin/true' } } };
      await ask(scene, 'PUT', `/v1/workloads/${name}`, spec);
      const early = await composition.run(['run', '--rm', '-T', 'store', 'save', '/saved/early']);
      holds('it copied what services still write', early.exitCode !== 0);
      holds(`it says: ${early.stderr}`, early.stderr.includes('connected to NATS: stop the services'));
      await composition.done('stop', ...others);
      await composition.done('run', '--rm', '-T', 'store', 'save', '/saved/spec');
      await composition.done('down');
      await composition.engine.docker('volume', 'rm', `${composition.project}_nats`);
      // It makes the place of the store, and keeps the rest.
      same('init', await composition.done('run', '--rm', '-T', 'init'), '');
      await composition.done('up', '-d', '--no-build', 'nats');
      const loaded = await composition.done('run', '--rm', '-T', 'store', 'load', '/saved/spec');
      await composition.done('up', '-d', '--no-build');
      return `${loaded.trim().split('\n')[0]}, generation ${await isOfEarlier(scene)}`;
    },
  },
  {
    name: 'store-put-back',
    needs: ['store'],
    title: 'files of NATS that were put back are said to be, and the services go on from there',
    async run(scene) {
      const { composition } = scene;
      const before = await isOfEarlier(scene);
      // As an operator who has looked at what is not so any more: else nothing shows that it is paused anew.
      await ask(scene, 'PUT', '/v1/fencing', { mode: 'observe' });
      await composition.done('stop', ...others);
      const said = await composition.done('run', '--rm', '-T', 'store', 'restored');
      await composition.done('up', '-d', '--no-build');
      const raised = async (): Promise<number | undefined> => {
        const found = await isOfEarlier(scene);
        return found > before ? found : undefined;
      };
      const after = await until('another generation', SAID_MS, raised, LOOK_MS);
      return `${said.trim().split('\n')[0]}, generation ${after}`;
    },
  },
];
