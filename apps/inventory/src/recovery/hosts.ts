import { Injectable } from '@nestjs/common';
import type { Host } from '#domain/workload/placement.js';
import { hosts } from '../plan/workloads/hosts.js';
import { FleetSource } from '../snapshot/fleet-source.js';

/** The nodes as placement sees them, as of now. */
@Injectable()
export class HostsView {
  constructor(private readonly fleets: FleetSource) {}

  hosts(): readonly Host[] {
    return hosts(this.fleets.now());
  }
}
