import { strict as assert } from 'node:assert';
import type { NodeView } from '#contracts';
import type { Scenario } from '../../scenario.js';
import { agentShows, agentStatus, allUp, hostNames, idleHost, inHost, status, Watch } from '../../watch.js';

const CACHE = '/var/lib/muster/peers.json';
/** The bound for an agent that starts without a control plane, and for a change of the fleet, ms. */
const WITHIN_MS = 2_000;

/** With the control plane away each of these is all that an agent has. */
const spoilt: Record<string, string> = {
  corrupt: `printf 'not json' > ${CACHE}`,
  empty: `: > ${CACHE}`,
  'half-written': `head -c 100 ${CACHE} > ${CACHE}.x && mv ${CACHE}.x ${CACHE}`,
};

/** In the host, where asking takes no time: kills the agent, and asks until the next one has heard all its peers. */
const RESUME = `
import json, socket, subprocess, time

def ask():
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(1)
        s.connect("/run/muster/agent.sock")
        s.sendall(b'{"op":"status"}\\n')
        return json.loads(s.makefile().readline())

def resumed(before):
    try:
        now = ask()
    except (OSError, ValueError):
        return None  # it has not begun yet
    heard = [any(link[1] >= 0 for link in links) for _, links in now["peers"]]
    return now if now["epoch"] > before and heard and all(heard) else None

before = ask()["epoch"]
began = time.monotonic()
subprocess.run(["systemctl", "kill", "--signal=KILL", "muster-agent.service"], check=True)
now = None
while now is None and time.monotonic() < began + 10:
    now = resumed(before)
    time.sleep(0.02)
ms = (time.monotonic() - began) * 1000
print(json.dumps({"ms": ms, "peers": len(now["peers"]), "warnings": now["health"].get("warnings", [])} if now else {}))
`;

interface Resumed {
  ms?: number;
  peers?: number;
  warnings?: string[];
}

export const D19D20: Scenario = {
  name: 'D19',
  title:
    'the control plane is away and agents restart: within 2 s they go on from their list, also from a spoilt one (D20)',
  async run(fleet, say) {
    const host = await idleHost(fleet);
    const watch = new Watch(fleet);
    const resume = async (spoil: string): Promise<Resumed> => {
      await inHost(fleet, host, 'cp', CACHE, `${CACHE}.good`);
      await inHost(fleet, host, 'sh', '-c', spoil);
      const { stdout } = await inHost(fleet, host, 'python3', '-c', RESUME);
      await inHost(fleet, host, 'mv', `${CACHE}.good`, CACHE);
      return JSON.parse(stdout) as Resumed;
    };
    await fleet.lab('nats', 'kill');
    try {
      for (const [how, spoil] of [['whole', 'true'], ...Object.entries(spoilt)] as [string, string][]) {
        let seen = await resume(spoil);
        // This machine may have been busy with the other fleet: a fault would be there again.
        if ((seen.ms ?? Infinity) > WITHIN_MS) seen = await resume(spoil);
        const { ms = Infinity, peers, warnings = [] } = seen;
        assert.equal(peers, hostNames(fleet).length - 1, `${how}: ${peers} peers`);
        assert.ok(ms <= WITHIN_MS, `${how}: heard its peers after ${ms.toFixed(0)} ms`);
        const warned = warnings.some((w) => w.startsWith('peer list:') && w.includes(CACHE));
        assert.equal(warned, how !== 'whole', `${how}: ${warnings.join('; ') || 'no warning'}`);
        say(`${how}: ${ms.toFixed(0)} ms`);
      }
    } finally {
      await fleet.lab('nats', 'start');
    }
    await allUp(fleet);
    watch.never('DOWN');
    await watch.noPowerWrites();
  },
};

const members = async (fleet: Parameters<Scenario['run']>[0], wanted: number): Promise<number> => {
  const since = performance.now();
  await fleet.until(
    `${wanted} members`,
    async () => ((await status(fleet)).detector.members === wanted ? true : undefined),
    10_000,
  );
  return performance.now() - since;
};

export const D21: Scenario = {
  name: 'D21',
  title: 'a node is added, re-addressed and removed while all runs: watched within 2 s, M follows, nobody restarts',
  async run(fleet, say) {
    const watcher = hostNames(fleet)[0] as string;
    const watch = new Watch(fleet);
    const { epoch } = await agentStatus(fleet, watcher);
    const m = (await status(fleet)).detector.members;
    const node = 'ghost-G1';
    const watched = (address: string): Promise<unknown> =>
      agentShows(
        fleet,
        watcher,
        `${node} at ${address}`,
        (s) =>
          s.list?.peers.some((p) => p.name === node && p.networks['management'] === address) === true &&
          s.peers.some(([name]) => name === node)
            ? true
            : undefined,
        10_000,
      );
    const within = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      const since = performance.now();
      await work();
      const ms = performance.now() - since;
      say(`${what} ${ms.toFixed(0)} ms`);
      assert.ok(ms <= WITHIN_MS, `${what}: ${ms.toFixed(0)} ms`);
    };
    const networks = (address: string): object => ({ management: { address }, backend: { address: '10.77.2.250' } });
    const given = await fleet.api.post<NodeView>('/v1/nodes', {
      label: 'ghost',
      serial: 'G1',
      networks: networks('10.77.1.250'),
      enrolled: true,
    });
    try {
      await within('added', () => watched('10.77.1.250'));
      await members(fleet, m + 1);
      await fleet.api.request('PATCH', `/v1/nodes/${node}`, { networks: networks('10.77.1.251') });
      await within('re-addressed', () => watched('10.77.1.251'));
    } finally {
      await fleet.api.request('DELETE', `/v1/nodes/${given.name}`);
    }
    await within('removed', () =>
      agentShows(
        fleet,
        watcher,
        'that it is gone',
        (s) => (s.peers.some(([name]) => name === node) ? undefined : true),
        10_000,
      ),
    );
    await members(fleet, m);
    assert.equal((await agentStatus(fleet, watcher)).epoch, epoch);
    assert.deepEqual(
      watch.verdicts().filter((e) => e.key !== node && e.data['verdict'] !== 'UP'),
      [],
    );
    await watch.noPowerWrites();
  },
};
