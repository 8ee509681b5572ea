import { FencerWorker, type FencerWorkerParts } from './fencer-worker.js';
import { FencingLeader, type FencingLeaderParts } from './fencing/fencing-leader.js';

export type FencerParts = FencerWorkerParts & FencingLeaderParts;

/** What a fencer process does by itself: it offers its drivers, and contends for the right to fence. */
export class Fencer {
  private readonly worker: FencerWorker;
  private readonly leader: FencingLeader;

  constructor(parts: FencerParts) {
    this.worker = new FencerWorker(parts);
    this.leader = new FencingLeader(parts);
  }

  /** @throws ALREADY_EXISTS where another live process has its name */
  async start(): Promise<void> {
    await Promise.all([this.worker.start(), this.leader.start()]);
  }

  /** Commands under way are ended, and their ends written, before the lease is given up. */
  async stop(): Promise<void> {
    await Promise.all([this.worker.stop(), this.leader.stop()]);
  }
}
