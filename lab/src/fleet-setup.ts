import { isSettledJob, MusterError, type JobRecord, type NodeView } from '#contracts';
import { BMC_USER } from './bmc.js';
import { refuseDeadServices, userName } from './cluster.js';
import { Api } from './fleet/api.js';
import type { LabFolder } from './folder.js';
import { knownHosts, type HostPlan, type LabPlan } from './plan.js';
import type { Processes } from './processes.js';
import { Hopeless, until } from './until.js';

/**
 * For one step of the set-up of a small fleet, ms: after it a step hangs. It measures nothing, since a machine that is busy
 * with others takes several times as long; what fails or ends is told at once.
 */
const STEP_MS = 240_000;

/** What an operator does with a new cluster, by the same HTTP API: registers, waits, commissions. */
export class FleetSetup {
  constructor(
    private readonly api: Api,
    private readonly processes: Processes,
    private readonly plan: LabPlan,
    private readonly say: (line: string) => void,
  ) {}

  async ready(): Promise<void> {
    await this.while('the gateway to be ready', STEP_MS, () => this.api.get('/readyz').then(() => true), 50);
  }

  /** Retried while the workers that are to serve the nodes have not announced themselves. */
  async register(folder: LabFolder, plan: LabPlan, password: string, domains: number): Promise<void> {
    const root = (h: HostPlan): Record<string, unknown> =>
      plan.mode === 'netns'
        ? {}
        : {
            ansible_port: h.sshPort,
            muster_root: folder.host(h.name, 'root'),
            // Its sshd lets nobody else in, whoever the user of an external Muster's Ansible is.
            ...(plan.external !== undefined && { ansible_user: userName() }),
          };
    await Promise.all(
      knownHosts(plan).map((h) =>
        this.while(
          `${h.node} to be registered`,
          STEP_MS,
          async () => {
            try {
              await this.api.post('/v1/nodes', {
                label: h.name,
                serial: h.serial,
                failureDomain: `room${((h.n - 1) % domains) + 1}`,
                networks: {
                  management: { address: h.networks.management },
                  backend: { address: h.networks.backend },
                },
                powerLevels: [
                  [
                    {
                      id: 'bmc',
                      driver: 'ipmitool',
                      address: h.bmc.address,
                      port: h.bmc.port,
                      username: BMC_USER,
                      password,
                    },
                  ],
                ],
                provisionDriver: 'ansible',
                vars: root(h),
              });
            } catch (e) {
              const status = MusterError.from(e).facts['status'];
              if (status !== 409) throw refused(e);
            }
            return true;
          },
          200,
        ),
      ),
    );
  }

  /** Nodes that nobody powers off; all that Muster has of them is what they say. */
  async registerPeers(plan: LabPlan): Promise<void> {
    const waiting = [...plan.peers];
    const one = async (): Promise<void> => {
      for (let p = waiting.shift(); p !== undefined; p = waiting.shift()) {
        const { name: label, serial, networks } = p;
        const addresses = Object.entries(networks).map(([network, address]) => [network, { address }]);
        await this.api.post('/v1/nodes', {
          label,
          serial,
          fencing: 'manual',
          provisionDriver: 'ansible',
          networks: Object.fromEntries(addresses),
        });
      }
    };
    await Promise.all(Array.from({ length: 8 }, one));
  }

  async peersDiscovered(plan: LabPlan): Promise<void> {
    await this.all(plan.peers, 'be Discovered', STEP_MS + plan.peers.length * 200, (n) => n.state === 'Discovered');
  }

  async discovered(plan: LabPlan): Promise<void> {
    await this.all(knownHosts(plan), 'be Discovered', STEP_MS, (n) => n.state === 'Discovered');
  }

  /** host1 is the master; the rest follow when it is there, as the rules of the roles want it. */
  async commission(plan: LabPlan): Promise<void> {
    const [master, ...workers] = knownHosts(plan).map((h) => h.node);
    await this.commissionGroup('service-master', [master!]);
    if (workers.length > 0) await this.commissionGroup('service-worker', workers);
    await this.all(knownHosts(plan), 'be in service', STEP_MS + workers.length * 2_000, (n) => n.inService);
  }

  private async commissionGroup(hostGroup: string, nodes: string[]): Promise<void> {
    this.say(`commissioning ${nodes.join(', ')} as ${hostGroup}`);
    const { job } = await this.api.post<{ job: string }>('/v1/operations', { kind: 'commission', nodes, hostGroup });
    const ended = await this.while(
      `job ${job} (commission ${hostGroup}) to end`,
      STEP_MS + nodes.length * 20_000,
      async () => {
        const record = await this.api.get<JobRecord>(`/v1/jobs/${job}`);
        return isSettledJob(record) ? record : undefined;
      },
      200,
    );
    if (ended.status !== 'Errored') return;
    const why = Object.entries(ended.results).flatMap(([node, r]) =>
      r.ok ? [] : [`${node}: ${r.failedTask ?? r.step}: ${r.message ?? 'failed'}`],
    );
    throw new MusterError('COMMAND_FAILED', `commission of ${hostGroup} failed: ${ended.error} ${why.join('; ')}`);
  }

  /** TIMEOUT names the nodes that are not there yet, and what they are. */
  async all(
    wanted: readonly { node: string }[],
    what: string,
    timeoutMs: number,
    is: (n: NodeView) => boolean,
  ): Promise<void> {
    let missing: string[] = [];
    const look = async (): Promise<true | undefined> => {
      const nodes = new Map((await this.api.all<NodeView>('/v1/nodes')).map((n) => [n.name, n]));
      missing = wanted.flatMap((h) => {
        const n = nodes.get(h.node);
        if (n !== undefined && is(n)) return [];
        return [
          n === undefined ? h.node : `${n.name} (${n.status}, ${n.state}, ${n.reasons.map((r) => r.code).join(' ')})`,
        ];
      });
      return missing.length === 0 ? true : undefined;
    };
    try {
      await this.while(`every node to ${what}`, timeoutMs, look, 100);
    } catch (e) {
      if (!(e instanceof MusterError) || e.code !== 'TIMEOUT') throw e;
      throw new MusterError('TIMEOUT', `${e.message}: ${missing.slice(0, 20).join(', ')}`, {}, { cause: e });
    }
  }

  /** Ends early where a service has died: nothing would come any more. */
  private while<T>(what: string, timeoutMs: number, look: () => Promise<T | undefined>, everyMs: number): Promise<T> {
    const alive = (): void => {
      try {
        refuseDeadServices(this.processes, this.plan);
      } catch (e) {
        throw new Hopeless(e);
      }
    };
    return until(what, timeoutMs, () => (alive(), look()), everyMs);
  }
}

/** A refusal for good ends the wait; a service that is not there yet does not. */
const refused = (e: unknown): unknown => {
  const status = MusterError.from(e).facts['status'];
  return typeof status === 'number' && status < 500 ? new Hopeless(e) : e;
};
