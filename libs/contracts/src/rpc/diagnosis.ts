/** A server of NATS, as it tells of itself. */
export interface NatsServerFacts {
  name: string;
  version: string;
  /** Name of its cluster; absent: it stands alone. */
  cluster?: string;
  /** When an acknowledged write is on its disk: `always`, or after so many ms at most. Absent: it does not tell. */
  sync?: 'always' | number;
  /** Bytes that its streams take, and may take. Absent: it does not tell. */
  storeBytes?: number;
  storeLimitBytes?: number;
}

/** A stream or bucket, and where its copies are. */
export interface StreamFacts {
  name: string;
  replicas: number;
  /** Servers whose copy is not current. Absent: one copy, or nobody leads it. */
  behind?: string[];
  /** Nobody leads it: it takes no write. */
  leaderless?: true;
}

/** What is asked of the bus; `failed` says in one sentence why it could not be. */
export interface BusFacts {
  /** Addresses of servers that services are configured with. */
  configured: number;
  /** Copies of each stream, as configured. */
  replicas: number;
  servers: { items: NatsServerFacts[] } | { failed: string };
  streams: { items: StreamFacts[] } | { failed: string };
  /** Services have NATS accounts of their own; absent: not known. */
  ownAccounts?: boolean;
  /** Below the stores, as far as an inventory on their machines sees them. Absent: an inventory of an earlier Muster. */
  disks?: StoreDisk[];
}

/** A disk below the store of a NATS server. */
export interface StoreDisk {
  /** Control host that it is of; absent: there is one. */
  host?: string;
  path: string;
  totalBytes: number;
  freeBytes: number;
  /** ms since the inventory of that host has told of it; absent: who answers has looked now. */
  ageMs?: number;
}

/** An agent, by its reports to who answers. */
export interface AgentFacts {
  node: string;
  /** ms since its last report; absent: none was heard since who answers has started. */
  ageMs?: number;
  /** Absent: an agent of an earlier Muster. */
  version?: string;
  /** Its wall clock less that of who answers, ms; the report's time on the way is in it. Absent: as above. */
  clockOffMs?: number;
  /** Network → peers whose echoes it misses: what it hears. What it is heard by stands with its peers. Absent: none. */
  misses?: Record<string, string[]>;
}

/** What `muster doctor` cannot learn from elsewhere. */
export interface DiagnosisView {
  /** Version of who answers. */
  version: string;
  /** Wall clock of who answers, ms. */
  at: number;
  bus: BusFacts;
  /** Of every enrolled node, by name. */
  agents: AgentFacts[];
  /** Members of the fleet: what the shares of the storm limits are of. */
  members: number;
  /** Members by failure domain. */
  domains: Record<string, number>;
}
