import { Injectable } from '@nestjs/common';
import type { Host } from '#domain/workload/placement.js';
import { allTell, hosts, whyNotStart, whyOut } from '../plan/workloads/hosts.js';
import { FleetSource } from '../snapshot/fleet-source.js';

/** The nodes as placement sees them, as of now. */
@Injectable()
export class HostsView {
  constructor(private readonly fleets: FleetSource) {}

  hosts(): readonly Host[] {
    return hosts(this.fleets.now());
  }

  allTell(): boolean {
    return allTell(this.fleets.now());
  }

  whyOut(node: string): string | undefined {
    return whyOut(this.fleets.now(), node);
  }

  whyNotStart(node: string): string | undefined {
    return whyNotStart(this.fleets.now(), node);
  }
}
