import { NODE_NAME_PATTERN, type JobRecord, type NodeRecord, type Reservations, type WorkloadRecord } from '#contracts';
import type { Entry } from '#bus';
import { BEHIND_MS, entriesBehind } from '../store/entries-now.js';
import type { InventoryStore } from '../store/inventory-store.js';

/**
 * What one group of decisions rests on. It is made after the reservations were read. A settlement writes the node first
 * and frees it after: whoever finds a node free must see at least what its last job has made of it. So the nodes of the
 * request are read anew, each once for the whole group, and all others come from a view that has caught up.
 */
export class AdmissionRound {
  private readonly reads = new Map<string, Promise<void>>();
  private readonly fresh = new Map<string, Entry<NodeRecord> | undefined>();
  private caughtUp: Promise<void> | undefined;
  private fleet: NodeRecord[] | undefined;
  private queued: number | undefined;
  private workloadsKnown: Promise<void> | undefined;
  private workloadsRead: readonly Entry<WorkloadRecord>[] | undefined;
  private workloads: Map<string, string[]> | undefined;

  constructor(private readonly store: InventoryStore) {}

  /** Of a node that exists, as of now. */
  async read(name: string): Promise<Entry<NodeRecord> | undefined> {
    let read = this.reads.get(name);
    if (!read) this.reads.set(name, (read = this.fetch(name)));
    await read;
    return this.fresh.get(name);
  }

  /** As read anew in this round. */
  seen(name: string): Entry<NodeRecord> | undefined {
    return this.fresh.get(name);
  }

  /** For the rules over several nodes: from now on every node is known as those who freed it have left it. */
  catchUp(now: Reservations): Promise<void> {
    this.caughtUp ??= this.store.nodes.view.shows(now.nodesAt ?? 0, BEHIND_MS).then(async (shows) => {
      if (!shows) for (const e of await this.store.nodes.bucket.list()) this.fresh.set(e.key, e);
    });
    return this.caughtUp;
  }

  /** For requests that end what runs on their nodes: whatever was assigned before now is known from now on. */
  catchUpWorkloads(): Promise<void> {
    this.workloadsKnown ??= entriesBehind(this.store.workloads).then((all) => void (this.workloadsRead = all));
    return this.workloadsKnown;
  }

  /** By name; complete once every look of the group has ended. A fleet is only gone through where a rule asks for it. */
  get nodes(): Pick<ReadonlyMap<string, NodeRecord>, 'get' | 'values'> {
    return {
      get: (name) => (this.fresh.has(name) ? this.fresh : this.store.nodes.view).get(name)?.value,
      values: () => this.all().values(),
    };
  }

  private all(): readonly NodeRecord[] {
    if (this.fleet) return this.fleet;
    this.fleet = [...this.fresh.values()].flatMap((entry) => entry?.value ?? []);
    const roles = new Set(this.store.clusterSettings.hostGroups.filter((g) => g.role === 'master').map((g) => g.name));
    const others = this.store.nodes.view.entries().filter((e) => !this.fresh.has(e.key));
    // Masters first: a rule that looks for one ends there.
    for (const { value } of others) if (roles.has(value.hostGroup ?? '')) this.fleet.push(value);
    for (const { value } of others) if (!roles.has(value.hostGroup ?? '')) this.fleet.push(value);
    return this.fleet;
  }

  /** Of these that run there by the node's own word, those that are assigned elsewhere or nowhere. */
  strays(node: string, running: readonly string[]): string[] {
    const here = new Set(this.workloadsOn(node));
    return running.filter((name) => !here.has(name) && this.store.workloads.view.get(name) !== undefined).sort();
  }

  /** Assigned to the node, by name. */
  workloadsOn(node: string): string[] {
    if (!this.workloads) {
      this.workloads = new Map();
      for (const { key, value } of this.workloadsRead ?? this.store.workloads.view.entries()) {
        const at = value.assignment?.node;
        if (at === undefined) continue;
        const there = this.workloads.get(at);
        if (there) there.push(key);
        else this.workloads.set(at, [key]);
      }
      for (const there of this.workloads.values()) there.sort();
    }
    return this.workloads.get(node) ?? [];
  }

  /** Jobs that wait for a worker, and those that were admitted and may not have a record yet. */
  queuedJobs(pending: Readonly<Record<string, JobRecord>>): number {
    this.queued ??= this.store.jobs.view.entries().filter((e) => e.value.status === 'Queued').length;
    let waiting = this.queued;
    for (const id of Object.keys(pending)) if (this.store.jobs.view.get(id) === undefined) waiting += 1;
    return waiting;
  }

  private async fetch(name: string): Promise<void> {
    this.fresh.set(name, NODE_NAME_PATTERN.test(name) ? await this.store.nodes.bucket.get(name) : undefined);
  }
}
