import { join } from 'node:path';
import type { Bus } from '#bus';
import type { JobRecord, NodeRecord } from '#contracts';
import type { ServiceConfig } from '#service';
import type { AgentArchive } from '../agent-archive/agent-archive.js';
import type { AnsibleHost } from '../ansible/ansible-host.js';
import { prepareInstall, type PreparedInstall } from './prepare-install.js';

/** A discover job between its two playbooks: what the hosts have said of themselves, and what follows from it. */
export class Discovery {
  private facts: ReadonlyMap<string, unknown> = new Map();
  private archive: Promise<AgentArchive> | undefined;

  constructor(
    private readonly o: {
      bus: Bus;
      config: Pick<ServiceConfig, 'agents' | 'cluster' | 'dataDir' | 'nats'>;
      job: JobRecord;
      ansible: Pick<AnsibleHost, 'agentArchive'>;
    },
  ) {}

  /** The archive is packed while the hosts are looked at. */
  begin(): void {
    this.packed().catch(() => undefined); // told by `prepare`, which needs it
  }

  found(facts: ReadonlyMap<string, unknown>): void {
    this.facts = facts;
  }

  /** @throws CONFIG_INVALID where there is no agent to install */
  async prepare(
    addresses: readonly string[],
    known: { nodes: readonly NodeRecord[]; variables: Record<string, unknown> },
  ): Promise<PreparedInstall> {
    const facts = new Map(addresses.map((a) => [a, this.facts.get(a)]));
    return prepareInstall({ ...this.o, ...known, facts, archive: await this.packed() });
  }

  private packed(): Promise<AgentArchive> {
    const { agents, dataDir } = this.o.config;
    this.archive ??= this.o.ansible.agentArchive(join(dataDir, 'agent-archive'), agents.runtime);
    return this.archive;
  }
}
