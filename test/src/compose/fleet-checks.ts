import { setTimeout as sleep } from 'node:timers/promises';
import type { IncidentRecord, NodeView } from '../../../libs/contracts/src/index.js';
import { until } from '../../../lab/src/until.js';
import { ask, holds, http, same, type Check, type Scene } from './check.js';
import { NODES } from './lab-hosts.js';

/** The label of this one is MUSTER_HOST: it is the control machine's own. */
const own = { host: 'host4', node: 'host4-L4' };
/** From a death to its incident's decision: the verdict takes 4 s at most, gates 2 s. */
const DECIDED_MS = 30_000;
/** More than a fencer would take from there to its command. */
const HELD_MS = 10_000;
/** A boot, and the check that follows it. */
const BACK_MS = 120_000;

/** Its last one; undefined: it never had any. */
async function incidentOf(scene: Scene, node: string): Promise<IncidentRecord | undefined> {
  const { status, text } = await http(scene, 'GET', `/v1/incidents/${node}`);
  if (status === 404) return undefined;
  holds(`incident of ${node}: ${status} ${text}`, status === 200);
  return JSON.parse(text) as IncidentRecord;
}

/** Hosts with real agents, BMCs and work on them, which come to the composition by what it publishes. */
export const fleetChecks: readonly Check[] = [
  {
    name: 'story',
    needs: ['up'],
    title: 'a host of the lab dies with work on it: it is proven off, its work runs elsewhere, and it comes back',
    async run(scene) {
      const { machine, composition, station, hosts, token } = scene;
      // Their records were for the checks before this one.
      const { items } = await ask<{ items: NodeView[] }>(scene, 'GET', '/v1/nodes');
      for (const { name } of items) await ask(scene, 'DELETE', `/v1/nodes/${name}`);
      await station.stop();
      await machine.unplug();
      const told = await hosts.demo(composition, token);
      same('deviations', told.deviations, []);
      holds('the demo was not ok', told.ok);
      const at = told.timeline.map(({ event, ms }) => `${event} ${(ms / 1000).toFixed(1)} s`);
      const moves = told.workloads.map(({ name, from, to, gap_ms }) => `${name} ${from} → ${to}, gap ${gap_ms} ms`);
      return [...at, ...moves].join(', ');
    },
  },
  {
    name: 'own-host',
    needs: ['story'],
    title:
      'the control machine is a node itself: when that one is dead to all others, its own fencer does not power it off',
    async run(scene) {
      const { hosts } = scene;
      const before = await incidentOf(scene, own.node);
      await hosts.lab('kill', own.host);
      const incident = await until(
        'the incident of the dead node to be decided',
        DECIDED_MS,
        async () => {
          const found = await incidentOf(scene, own.node);
          if (found === undefined || found.id === before?.id) return undefined;
          const isOpen = ['open', 'investigating'].includes(found.phase);
          // Another gate may stop it for a moment.
          return isOpen || (found.phase === 'suppressed' && found.gate !== 'NOT_FENCEABLE') ? undefined : found;
        },
        250,
      );
      same('its incident', [incident.phase, incident.gate], ['suppressed', 'NOT_FENCEABLE']);
      const why = incident.gates.find(({ gate }) => gate === 'NOT_FENCEABLE')?.detail ?? '';
      holds(`why: ${why}`, why.includes('No live fencer runs outside of it.'));
      // Nothing happens, and nobody tells of that.
      await sleep(HELD_MS);
      same('what its BMC was told', hosts.powerWrites(own.host), []);
      await hosts.lab('boot', own.host);
      await until(
        'it to be in service again',
        BACK_MS,
        async () => ((await ask<NodeView>(scene, 'GET', `/v1/nodes/${own.node}`)).inService ? true : undefined),
        500,
      );
      return `suppressed: ${why}`;
    },
  },
];

/** After all faults. */
export const lastFleetChecks: readonly Check[] = [
  {
    name: 'audit',
    needs: ['story'],
    title: 'the lab’s audit finds nothing: no work ran twice, nothing was powered off but the host that died',
    async run(scene) {
      const { hosts } = scene;
      const { items } = await ask<{ items: NodeView[] }>(scene, 'GET', '/v1/nodes');
      same(
        'in service',
        items.filter(({ inService }) => inService).map(({ name }) => name),
        Array.from({ length: NODES }, (_, i) => `host${i + 1}-L${i + 1}`),
      );
      const { ok, violations } = await hosts.audit();
      same('violations', violations, []);
      holds('the audit failed', ok);
      const off = hosts.allPowerWrites().filter(({ value }) => value === '0');
      same(
        'powered off',
        off.map(({ host }) => host),
        ['host2'],
      );
      await hosts.remove();
      return `${off.length} power-off in all`;
    },
  },
];
