/** Bucket `workers`, key `<service>=<id>`; heartbeat every 2 s, dead after 6 s by the receiver's clock. */
export interface WorkerRecord {
  service: 'fencer' | 'provisioner';
  id: string;
  /** Self-tested drivers only. */
  drivers: string[];
  /** Random per process: a second process with the same id is told by it. */
  incarnation: string;
  host: string;
  startedAt: number;
  beat: number;
}
export const WORKER_BEAT_MS = 2000;
export const WORKER_DEAD_MS = 6000;
export const workerKey = (w: { service: string; id: string }): string => `${w.service}=${w.id}`;
