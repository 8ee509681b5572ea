import { existsSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import { natsServers, readDisk, readRevokerKey } from '#bus';
import { packageVersion } from '#bus/system/package-version.js';
import {
  MusterError,
  STORE_DISK_PREFIX,
  type BusFacts,
  type DiagnosisView,
  type NatsServerFacts,
  type StoreDisk,
  type StoreDiskRecord,
} from '#contracts';
import { isMember } from '#domain/node/membership.js';
import { ServiceContext } from '#service';
import { controlHost } from '../records/host-alarms.js';
import { everyDisk } from '../records/store-disks.js';
import { ReportsView } from '../reports/reports-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { settingsOf } from '../store/settings-of.js';
import { agentFacts } from './agent-facts.js';

/** Gathers what `muster doctor` judges: nothing is judged here, and what could not be asked is told as that. */
@Injectable()
export class DiagnosisService {
  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly reports: ReportsView,
  ) {}

  async diagnosis(): Promise<DiagnosisView> {
    const bus = await this.bus();
    const { clock } = this.context;
    const { suspectMisses } = this.store.clusterSettings.detection;
    const now = clock.monotonicMs();
    const nodes = this.store.nodes.view.entries().map((e) => e.value);
    const members = nodes.filter(isMember);
    const domains: Record<string, number> = {};
    for (const { failureDomain: domain } of members) domains[domain] = (domains[domain] ?? 0) + 1;
    return {
      version: packageVersion(),
      at: clock.wallMs(),
      bus,
      agents: nodes
        .filter((n) => n.enrolled)
        .map((n) => agentFacts(n.name, this.reports.of(n.name), now, suspectMisses))
        .sort((a, b) => (a.node < b.node ? -1 : 1)),
      members: members.length,
      domains,
    };
  }

  private async bus(): Promise<BusFacts> {
    const { config, bus } = this.context;
    const [servers, streams, disks] = await Promise.all([
      orFailed(() => this.servers()),
      orFailed(() => bus.streamFacts()),
      this.disks(),
    ]);
    return {
      configured: config.nats.servers.length,
      replicas: config.replicas,
      servers,
      streams,
      ...this.ownAccounts(),
      disks,
    };
  }

  private async disks(): Promise<StoreDisk[]> {
    const { config, clock } = this.context;
    const own = config.nats.store === undefined ? undefined : await readDisk(config.nats.store);
    const told = settingsOf<StoreDiskRecord>(this.store)
      .view.entries()
      .filter(({ key }) => key.startsWith(STORE_DISK_PREFIX))
      .map(({ key, value }) => [key.slice(STORE_DISK_PREFIX.length), value] as const);
    return everyDisk({ own, host: controlHost(config), told: new Map(told), wallMs: clock.wallMs() });
  }

  /** As the key says whose accounts it knows. */
  private ownAccounts(): Pick<BusFacts, 'ownAccounts'> {
    const { revoker } = this;
    return revoker === undefined ? {} : { ownAccounts: readRevokerKey(revoker).own !== undefined };
  }

  private get revoker(): string | undefined {
    const { revoker } = this.context.config.keys;
    return revoker !== undefined && existsSync(revoker) ? revoker : undefined;
  }

  private async servers(): Promise<NatsServerFacts[]> {
    const { revoker } = this;
    if (revoker === undefined)
      throw new MusterError('CONFIG_INVALID', 'inventory has no keys.revoker, with which servers can be asked');
    const { config, natsAuthority: ca } = this.context;
    const key = readRevokerKey(revoker);
    const found = await natsServers({ key, servers: config.nats.servers, ...(ca !== undefined && { ca }) });
    if (found.length === 0)
      throw new MusterError(
        'NO_RESPONDER',
        'no server answers what it is: it was started before its muster init allowed that question',
      );
    return found;
  }
}

async function orFailed<T>(ask: () => Promise<T[]>): Promise<{ items: T[] } | { failed: string }> {
  try {
    return { items: await ask() };
  } catch (e) {
    return { failed: MusterError.from(e).message };
  }
}
