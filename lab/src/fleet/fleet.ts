import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { MusterError, type IncidentRecord, type JobRecord, type NodeView, type WorkloadRecord } from '#contracts';
import type { AuditAnswer } from '../audit/run-audit.js';
import { historyOf, parseBeat, type Beat, type WorkloadHistory } from '../audit/ledger.js';
import { parseBmcLine, type BmcEntry } from '../audit/bmc-log.js';
import { Api } from './api.js';
import { EventFeed } from './event-feed.js';
import { runLab } from './lab-command.js';
import { LabSession } from './lab-session.js';

export interface FleetOptions {
  dir: string;
  nodes: number;
  mode: 'netns' | 'loopback';
  /** More options for `lab up`. */
  up?: string[];
  /** Hears each line of progress that the lab prints. */
  onProgress?: (line: string) => void;
}

/** What `lab info --json` tells, as far as it is needed here. */
export interface LabInfo {
  /** Of its gateways. */
  apis: string[];
  hosts: LabHost[];
  /** Hosts that Muster has not been told of; they count to no fleet until they are discovered. */
  bare: LabHost[];
}

export interface LabHost {
  name: string;
  /** Of a bare host: the name that it will have. */
  node: string;
  /** Folder with the logs of its units. */
  logs: string;
  networks: { management: string };
}

/** Between two looks at what tells nobody when it changes, after so long a wait. */
const nextLookMs = (waitedMs: number): number => Math.min(500, Math.max(50, waitedMs / 20));

/** Out of service by an operation, and heard: nothing is wrong with it. */
const isFree = (n: NodeView): boolean =>
  ['Unallocated', 'Decommissioned'].includes(n.status) && n.state === 'Discovered';

/** A lab driven from outside, as an operator would: by its commands, the HTTP API, the ledger and the BMC logs. */
export class Fleet {
  private readonly session: LabSession;

  private constructor(
    readonly options: FleetOptions,
    readonly info: LabInfo,
    readonly api: Api,
    readonly events: EventFeed,
  ) {
    this.session = new LabSession(options);
  }

  /** Brings a fleet up, commissions it, and opens its event stream. */
  static async up(options: FleetOptions): Promise<Fleet> {
    const size = ['--nodes', String(options.nodes), '--mode', options.mode];
    // Any free port: a Muster or a lab of the user's own may have the usual one.
    await runLab(options, ['up', ...size, '--commission', '--port', '0', ...(options.up ?? [])]);
    return await Fleet.attach(options);
  }

  /** A fleet that is already up. */
  static async attach(options: FleetOptions): Promise<Fleet> {
    const told = (await runLab(options, ['info'])) as {
      apis: string[];
      token?: string;
      hosts: (LabHost & { bare: boolean })[];
    };
    const info: LabInfo = {
      apis: told.apis,
      hosts: told.hosts.filter((h) => !h.bare),
      bare: told.hosts.filter((h) => h.bare),
    };
    const token = told.token === undefined ? undefined : (await readFile(told.token, 'utf8')).trim();
    return new Fleet(options, info, new Api(info.apis, token), await EventFeed.open(info.apis, token));
  }

  /** One lab command; rejects with its last words where it fails. */
  lab<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    return this.session.run(args) as Promise<T>;
  }

  /** The folder of its hosts' services, which a scenario may change: no other fleet has it. */
  get services(): string {
    return join(this.options.dir, 'services');
  }

  nodeOf(host: string): string {
    const found = this.everyHost.find((h) => h.name === host);
    if (found === undefined) throw new MusterError('NODE_UNKNOWN', `the lab has no host ${host}`);
    return found.node;
  }
  hostOf(node: string): string {
    return this.everyHost.find((h) => h.node === node)?.name ?? node;
  }
  private get everyHost(): LabHost[] {
    return [...this.info.hosts, ...this.info.bare];
  }

  node(host: string): Promise<NodeView> {
    return this.api.get(`/v1/nodes/${this.nodeOf(host)}`);
  }
  nodes(): Promise<NodeView[]> {
    return this.api.all('/v1/nodes');
  }
  incident(host: string): Promise<IncidentRecord> {
    return this.api.get(`/v1/incidents/${this.nodeOf(host)}`);
  }
  workload(name: string): Promise<WorkloadRecord> {
    return this.api.get(`/v1/workloads/${name}`);
  }
  workloads(): Promise<WorkloadRecord[]> {
    return this.api.all('/v1/workloads');
  }
  job(id: string): Promise<JobRecord> {
    return this.api.get(`/v1/jobs/${id}`);
  }

  /** All that the BMC of a host was asked to do, oldest first. */
  async bmc(host: string): Promise<BmcEntry[]> {
    const text = await readFile(join(this.options.dir, 'bmc', host, 'log.jsonl'), 'utf8').catch(
      (e: NodeJS.ErrnoException) => {
        if (e.code === 'ENOENT') return '';
        throw e;
      },
    );
    return text.split('\n').flatMap((line) => parseBmcLine(host, line) ?? []);
  }

  async beats(): Promise<Beat[]> {
    const dir = join(this.options.dir, 'ledger');
    const files = await readdir(dir);
    const texts = await Promise.all(files.map((f) => readFile(join(dir, f), 'utf8')));
    return texts.flatMap((t) => t.split('\n').flatMap((line) => parseBeat(line) ?? []));
  }

  async histories(): Promise<WorkloadHistory[]> {
    return historyOf(await this.beats());
  }
  async history(workload: string): Promise<WorkloadHistory | undefined> {
    return (await this.histories()).find((h) => h.workload === workload);
  }

  /**
   * Looks at an outside source (a file, the API) until it shows what is wanted: again at each event of the stream, and, as
   * not everything has one, after 50 ms at first and after a twentieth of what it has waited later on, which on a long wait
   * costs the machine a tenth.
   */
  async until<T>(what: string, look: () => Promise<T | undefined>, timeoutMs: number): Promise<T> {
    const begin = performance.now();
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      const waitedMs = performance.now() - begin;
      if (waitedMs > timeoutMs)
        throw new MusterError('TIMEOUT', `waited ${timeoutMs / 1000} s for ${what}; it did not come`);
      await this.events.next(nextLookMs(waitedMs));
    }
  }

  /** What the units of a host have logged, as seen from outside it. */
  async unitLogs(host: string): Promise<string> {
    const dir = this.info.hosts.find((h) => h.name === host)?.logs ?? '';
    const texts = await Promise.all((await readdir(dir)).map((f) => readFile(join(dir, f), 'utf8')));
    return texts.join('\n');
  }

  audit(): Promise<AuditAnswer> {
    return this.lab<AuditAnswer>('audit');
  }

  /** Undoes every fault, and waits until all Allocated nodes are in service and each workload that should run does. */
  async heal(timeoutMs = 120_000): Promise<void> {
    await this.lab('heal', '--all');
    await this.until(
      'every Allocated node to be in service',
      // What was healed may have restarted NATS: for a moment nobody answers.
      () =>
        this.nodes().then(
          (nodes) => nodes.every((n) => n.inService || isFree(n)) || undefined,
          () => undefined,
        ),
      timeoutMs,
    );
    await this.until(
      'every workload to run',
      async () => {
        // Before it is read, which takes its time.
        const now = process.hrtime.bigint();
        const ledger = await this.histories();
        const workloads = await this.workloads();
        const beating = (name: string): boolean =>
          ledger.find((h) => h.workload === name)?.runs.some((r) => Number(now) - r.toNs < 1e9) === true;
        return workloads.every((w) => w.desired === 'stopped' || beating(w.name)) ? true : undefined;
      },
      30_000,
    );
  }

  /** Ends the event stream; the lab stays up. */
  detach(): void {
    this.session.close();
    this.events.close();
  }
  /** Takes down whatever a lab in this folder has left, also after a start that failed half way. */
  static async clear(options: FleetOptions): Promise<void> {
    await runLab(options, ['down']);
  }
}
