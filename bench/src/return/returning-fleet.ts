import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MusterError, type JobRecord, type NodeView, type VerdictEvidence } from '#contracts';
import type { FeedEvent } from '../../../lab/src/fleet/event-feed.js';
import type { Fleet } from '../../../lab/src/fleet/fleet.js';
import { withFleet } from '../../../lab/src/fleet/with-fleet.js';
import type { LabInfo } from '../../../lab/src/info.js';
import type { Round } from '../rounds.js';
import { BareAnsible } from './bare-ansible.js';
import { BROKEN, DRIFTED, SERVICES, writeBenchServices } from './bench-services.js';
import { ansibleMs, jobsOf, oddity, type ReturnKind } from './traces.js';

/** More returns than a bench has rounds: to be asked about flapping is not what is measured. */
const STORM_CAP = '500';
const DOWN_LIMIT_MS = 60_000;
const HEARD_LIMIT_MS = 60_000;
const BACK_LIMIT_MS = 180_000;
const DAMAGE: Record<ReturnKind, string | undefined> = {
  check: undefined,
  resetup: BROKEN.command,
  partial: DRIFTED.command,
};

/** A host that is cut off and called DOWN, and what the same work takes by hand on it. */
export interface Absent {
  node: NodeView;
  bareMs: number;
}

/** One return. */
export interface Return extends Round {
  host: string;
  /** From its cables being whole until its verdict is one of a node that lives. */
  heardMs: number;
  /** From that until it is in service. */
  servedMs: number;
  /** Of that, for which ansible-playbook ran, as the logs of its jobs say. */
  ansibleMs: number;
  /** The same services looked at (cleaned up, set up) by ansible-playbook alone, on this host, just before. */
  bareMs: number;
}

/** A fleet of the lab in which hosts lose their networks, and come back. Nobody is powered off in it. */
export class ReturningFleet {
  private constructor(
    private readonly fleet: Fleet,
    private readonly bare: BareAnsible,
  ) {}

  /** For as long as the work takes. */
  static async with(
    nodes: number,
    say: (line: string) => void,
    work: (fleet: ReturningFleet) => Promise<void>,
  ): Promise<void> {
    const own = await mkdtemp(join(tmpdir(), 'mbr-'));
    const [services, dir] = [join(own, 'services'), join(own, 'bare')];
    writeBenchServices(services);
    mkdirSync(dir);
    // A host that is cut off for some seconds would be powered off by a fleet that enforces: here it is to come back as it is.
    const up = ['--services', services, '--fencing', 'observe', '--storm-cap', STORM_CAP, '--domains', String(nodes)];
    const lab = { name: 'return', nodes, mode: 'netns' as const, up, say, onProgress: say };
    try {
      await withFleet({ ...lab, keep: () => false, failed: () => false }, async (fleet) => {
        const { controls, hosts } = await fleet.lab<LabInfo & Record<string, unknown>>('info');
        const ssh = hosts[0]?.ssh;
        const netns = controls[0]?.netns;
        if (netns === undefined || ssh === undefined)
          throw new MusterError('COMMAND_FAILED', 'the lab tells no namespaces');
        const bare = new BareAnsible({ dir, netns, ssh, nodes: await fleet.nodes(), services });
        await work(new ReturningFleet(fleet, bare));
      });
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }

  /** Hosts that come back, one after the other: all but the only master. */
  get hosts(): string[] {
    return this.fleet.info.hosts.slice(1).map((h) => h.name);
  }

  /** Takes the time by hand first, on the host as Muster has set it up, and leaves it so. */
  async leave(host: string, kind: ReturnKind): Promise<Absent> {
    const node = await this.fleet.node(host);
    const bareMs = await this.byHand(node, kind);
    const mark = this.fleet.events.mark();
    await this.fleet.lab('cut', host);
    const damage = DAMAGE[kind];
    if (damage !== undefined) await this.fleet.lab('exec', host, '--', 'sh', '-c', damage);
    await this.fleet.events.verdict(node.name, 'DOWN', DOWN_LIMIT_MS, mark);
    return { node, bareMs };
  }

  async comeBack({ node, bareMs }: Absent, kind: ReturnKind): Promise<Return> {
    const { events } = this.fleet;
    const mark = events.mark();
    const host = this.fleet.hostOf(node.name);
    const { ns } = await this.fleet.lab<{ ns: number }>('heal', host);
    const heard = await events.until(
      `${host} to be heard again`,
      (e) => e.key === node.name && isLife(e),
      HEARD_LIMIT_MS,
      mark,
    );
    const served = await events.inService(node.name, BACK_LIMIT_MS, mark);
    const jobs = jobsOf(events.seen.slice(mark), node.name);
    const resetup = jobs.resetups[0];
    const record = resetup && (await this.fleet.job(resetup.job));
    const odd = oddity(kind, jobs, record?.services, DRIFTED.service);
    if (odd !== undefined)
      throw new MusterError('COMMAND_FAILED', `${host} came back otherwise than asked for: ${odd}`);
    const ids = [...jobs.checks, ...jobs.resetups].map(({ job }) => job);
    const logs = await Promise.all(ids.map((id) => this.fleet.api.text(`/v1/jobs/${id}/log`)));
    const { observers } = heard.data['evidence'] as VerdictEvidence;
    const starved = observers.filter((o) => o.abstains === true).map((o) => o.observer);
    return {
      host,
      heardMs: (Number(heard.arrivedNs) - ns) / 1e6,
      servedMs: Number(served.arrivedNs - heard.arrivedNs) / 1e6,
      ansibleMs: logs.reduce((sum, log) => sum + ansibleMs(log), 0),
      bareMs,
      ...(starved.length > 0 && { starved: `${starved.join(', ')} abstained` }),
    };
  }

  /** Everybody serves, and nothing is under way on anybody. */
  async settled(): Promise<void> {
    await this.fleet.until(
      'every node to be in service and no job to run',
      async () => {
        const [nodes, jobs] = await Promise.all([this.fleet.nodes(), this.fleet.api.all<JobRecord>('/v1/jobs')]);
        return nodes.every((n) => n.inService) && jobs.every((j) => j.settled) ? true : undefined;
      },
      BACK_LIMIT_MS,
    );
  }

  private async byHand(node: NodeView, kind: ReturnKind): Promise<number> {
    const check = await this.bare.run('check', node, SERVICES);
    if (kind === 'check') return check;
    const those = kind === 'resetup' ? SERVICES : SERVICES.filter((s) => s.name === DRIFTED.service);
    return check + (await this.bare.run('cleanup', node, those)) + (await this.bare.run('site', node, those));
  }
}

const isLife = (e: FeedEvent): boolean =>
  e.kind === 'verdict' && (e.data['verdict'] === 'UP' || e.data['verdict'] === 'DEGRADED');
