import type { BucketName } from '#contracts';
import type { PlayedConnection } from '../nats/played-connection.js';
import type { PlayedServer } from '../nats/played-server.js';
import { NS_PER_MS, type VirtualTime } from '../time/virtual-time.js';
import type { PlayedProcesses } from './played-processes.js';
import type { SimProcess } from './sim-process.js';

/**
 * What befalls the programs of a world and the server that they talk by. Processes by their names; `the leader` is the
 * fencer, `the conductor` the inventory that leads then.
 */
export type ProgramFault =
  | { kind: 'crash'; process: string }
  | { kind: 'stop'; process: string } /** In good order; its supervisor starts it again. */
  | { kind: 'pause'; process: string; forMs: number }
  | { kind: 'wall-jump'; process: string; ms: number } /** Somebody sets the wall clock of its host. */
  | { kind: 'server-restart'; forMs: number; lost?: Readonly<Record<string, number>> } /** Of each stream so many. */
  | { kind: 'bucket-anew'; bucket: BucketName }; /** Somebody deletes it and makes it anew: revisions begin at 1. */

export interface ProgramFaultsParts {
  time: VirtualTime;
  server: PlayedServer;
  processes: PlayedProcesses;
  /** The connection that a process of this name has now. */
  connections: ReadonlyMap<string, PlayedConnection>;
  /** Of a lease, by what is stored. */
  holderOf: (lease: string) => string;
  madeAnew: (bucket: BucketName) => void;
}

/** Plays them. What is meant for a process that is not there befalls nobody. */
export class ProgramFaults {
  constructor(private readonly p: ProgramFaultsParts) {}

  process(name: string): SimProcess | undefined {
    const lease = name === 'the leader' ? 'fencer' : name === 'the conductor' ? 'conductor' : undefined;
    return this.p.processes.get(lease === undefined ? name : this.p.holderOf(lease));
  }

  /** Its way to NATS breaks, which is noticed so much later. */
  cutOff(process: string, o: { forMs: number; silentMs: number }): void {
    this.p.connections.get(this.process(process)?.name ?? '')?.break({ forMs: o.forMs, silentMs: o.silentMs });
  }

  /** What it sends reaches NATS so much later. */
  holdUp(process: string, o: { forMs: number; silentMs: number }): void {
    this.p.connections.get(this.process(process)?.name ?? '')?.holdUp(o);
  }

  play(e: ProgramFault): void {
    switch (e.kind) {
      case 'crash':
        this.process(e.process)?.crash();
        return;
      case 'stop':
        void this.process(e.process)?.restart();
        return;
      case 'pause': {
        const process = this.process(e.process);
        process?.pause();
        void this.p.time.schedule(e.forMs * NS_PER_MS, `${e.process} goes on`, () => process?.resume());
        return;
      }
      case 'wall-jump':
        this.p.processes.jumpWall(this.process(e.process)?.name ?? '', e.ms);
        return;
      case 'server-restart':
        this.p.server.restart({ downMs: e.forMs, ...(e.lost && { lost: e.lost }) });
        return;
      case 'bucket-anew':
        this.p.server.recreateStream(`KV_${e.bucket}`);
        this.p.madeAnew(e.bucket);
    }
  }
}
