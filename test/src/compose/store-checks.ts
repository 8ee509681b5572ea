import { allHealthy, ask, holds, same, type Check } from './check.js';
import { services } from './composition.js';

const others = services.filter((service) => service !== 'nats');
const name = 'kept-in-a-copy';

/** "Copy the store, and put it back" of docs/compose.md. It ends what the checks before it have left under way. */
export const storeChecks: readonly Check[] = [
  {
    name: 'store',
    needs: ['up'],
    title:
      'the store is copied, and loaded into a NATS that keeps nothing: the records are there, and fencing is paused',
    async run(scene) {
      const { composition } = scene;
      const spec = { desired: 'stopped', recovery: { driver: 'ansible', spec: { exec: '/bin/true' } } };
      await ask(scene, 'PUT', `/v1/workloads/${name}`, spec);
      const early = await composition.run(['run', '--rm', '-T', 'store', 'save', '/saved/early']);
      holds('it copied what services still write', early.exitCode !== 0);
      await composition.done('stop', ...others);
      await composition.done('run', '--rm', '-T', 'store', 'save', '/saved/spec');
      await composition.done('down');
      await composition.engine.docker('volume', 'rm', `${composition.project}_nats`);
      // It makes the place of the store, and keeps the rest.
      same('init', await composition.done('run', '--rm', '-T', 'init'), '');
      await composition.done('up', '-d', '--no-build', 'nats');
      const loaded = await composition.done('run', '--rm', '-T', 'store', 'load', '/saved/spec');
      await composition.done('up', '-d', '--no-build');
      await allHealthy(composition);
      const { desired } = await ask<{ desired: string }>(scene, 'GET', `/v1/workloads/${name}`);
      same('its workload', desired, 'stopped');
      const { paused } = await ask<{ paused?: object }>(scene, 'GET', '/v1/fencing');
      holds('fencing is not paused', paused !== undefined);
      return loaded.trim();
    },
  },
  {
    name: 'store-put-back',
    needs: ['store'],
    title: 'files of NATS that were put back are said to be, and the services go on from there',
    async run({ composition }) {
      await composition.done('stop', ...others);
      const said = await composition.done('run', '--rm', '-T', 'store', 'restored');
      await composition.done('up', '-d', '--no-build');
      await allHealthy(composition);
      return said.trim();
    },
  },
];
