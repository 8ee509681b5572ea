import { strict as assert } from 'node:assert';
import type { NodeView } from '#contracts';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { assertNoPowerWrites, nowNs } from '../observations.js';
import type { Scenario } from '../scenario.js';

const machines = [1, 2, 3].map((n) => ({ label: `tool${n}`, serial: 'T', addr: `10.201.0.${n}` }));
const named = (m: { label: string; serial: string }): string => `${m.label}-${m.serial}`;

const statesOf = async (fleet: Fleet): Promise<(string | undefined)[]> => {
  const nodes = await fleet.api.all<NodeView>('/v1/nodes');
  return machines.map((m) => nodes.find((n) => n.name === named(m))?.state);
};

/** What a word of a monitor changes; observers write more into a young fleet's records. */
const told = async (fleet: Fleet): Promise<unknown> =>
  (await fleet.nodes()).map(({ name, state, prevState, external }) => ({ name, state, prevState, external }));

const tell = (fleet: Fleet, event: 'discovered' | 'disappeared', text: string): Promise<unknown> =>
  fleet.lab('nats', 'publish', `muster.monitor.${event}`, text);

const become = (fleet: Fleet, state: string): Promise<true> =>
  fleet.until(
    `all of them to be ${state}`,
    async () => ((await statesOf(fleet)).every((s) => s === state) ? true : undefined),
    5_000,
  );

export const D23: Scenario = {
  name: 'D23',
  title: 'a tool publishes monitor events: every node of a list is handled, an empty one rejected, garbage ignored',
  async run(fleet) {
    const sinceNs = nowNs();
    await tell(fleet, 'discovered', JSON.stringify({ nodes: machines }));
    try {
      await isHeard(fleet, sinceNs);
    } finally {
      // The scenarios behind it count every node for a host.
      for (const m of machines) await fleet.api.request('DELETE', `/v1/nodes/${named(m)}`);
    }
  },
};

async function isHeard(fleet: Fleet, sinceNs: number): Promise<void> {
  await become(fleet, 'Discovered');
  const before = await told(fleet);
  const mark = fleet.events.mark();
  for (const garbage of ['', 'x', '{', '[]', 'null', '{"nodes":{}}', '{"nodes":[{"label":"a b"}]}', '\u0001'])
    await tell(fleet, 'disappeared', garbage);
  const empty = await fleet.lab<{ answer: string }>('nats', 'request', 'muster.monitor.disappeared', '{"nodes":[]}');
  assert.match(empty.answer, /"ok":false.*atleast one node/);
  await fleet.events.until(
    'the refusal to be on record',
    (e) => e.kind === 'audit' && e.data['outcome'] === 'refused',
    5_000,
    mark,
  );
  assert.deepEqual(await told(fleet), before);
  await tell(fleet, 'disappeared', JSON.stringify({ nodes: machines }));
  await become(fleet, 'Disappeared');
  await assertNoPowerWrites(fleet, sinceNs);
}
