import { parseEvent } from './ansible-events.js';

/** How far a run is on one host. */
export interface HostProgress {
  /** Task that runs, or ran last. */
  task: string;
  /** Tasks that have ended. */
  done: number;
  failed: boolean;
}

/** Follows the event lines of a run. */
export class RunProgress {
  readonly hosts = new Map<string, HostProgress>();

  take(lines: readonly string[]): void {
    for (const line of lines) {
      const event = parseEvent(line);
      const { host, task } = event ?? {};
      if (event === undefined || typeof host !== 'string' || typeof task !== 'string') continue;
      const was = this.hosts.get(host) ?? { task: '', done: 0, failed: false };
      if (event['event'] === 'start') this.hosts.set(host, { ...was, task });
      if (event['event'] !== 'task') continue;
      const bad = (event['status'] === 'failed' || event['status'] === 'unreachable') && event['ignored'] !== true;
      this.hosts.set(host, { task, done: was.done + 1, failed: was.failed || bad });
    }
  }
}
