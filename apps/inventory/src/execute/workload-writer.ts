import { Injectable } from '@nestjs/common';
import type { WorkloadRecord } from '#contracts';
import type { ChangeWorkload, ChangeWorkloads, Moment } from '../plan/intent.js';
import { WorkloadService } from '../workloads/workload.service.js';
import { followedBy, NOTHING, type Right, type Written } from './written.js';

/** Writes what happens to workloads. */
@Injectable()
export class WorkloadWriter {
  constructor(private readonly workloads: WorkloadService) {}

  async change(i: ChangeWorkload, at: Moment, c: Right): Promise<Written> {
    let was: WorkloadRecord | undefined;
    const changed = await this.workloads.change(i.key, i.told, (now) => {
      c.check();
      was = now;
      return i.decide(now, at);
    });
    if (changed === undefined || was === undefined) return NOTHING;
    return followedBy(i.followedBy?.(changed, at, was));
  }

  async changeAll(i: ChangeWorkloads, at: Moment, c: Right): Promise<Written> {
    const changed: WorkloadRecord[] = [];
    for (const key of i.keys) {
      const now = await this.workloads.change(key, undefined, (w) => {
        c.check();
        return i.decide(w, at);
      });
      if (now !== undefined) changed.push(now);
    }
    if (changed.length === 0) return NOTHING;
    return followedBy(i.followedBy(changed, at));
  }
}
