import { Controller, Get, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { StatusView } from '#contracts';
import { ServiceContext } from '#service';
import { Allow } from '../auth/roles.js';
import { StoreHealth } from '../store/store-health.js';
import { PlanQuery } from '../queries/queries.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { driversOf } from './drivers.js';

/** The conductor is asked, and asks the detector. */
const PLAN_LIMIT_MS = { single: 4_000, cluster: 4_000 };

/** Every server of NATS is waited for, and a store that does not answer. */
const DIAGNOSIS_LIMIT_MS = { single: 12_000, cluster: 15_000 };

@ApiTags('status')
@Controller('v1')
export class StatusController {
  constructor(
    private readonly rpc: RpcClient,
    private readonly store: StoreHealth,
    private readonly context: ServiceContext,
  ) {}

  @Get('status')
  @Allow('viewer', 'The whole on one page: mode, leases, detector, brake, incidents, alarms, nodes out and why')
  async status(): Promise<StatusView> {
    const status = await this.rpc.read('inventory.status', {});
    const fault = this.store.fault;
    const { allowFrom = [] } = this.context.config.compat;
    return {
      ...status,
      ...(fault !== undefined && { store: fault.message }),
      ...(allowFrom.length > 0 && { compat: { allowFrom } }),
    };
  }

  @Get('plan')
  @Allow(
    'viewer',
    'What the conductor would do next, what it waits for and why',
    'In mode observe what it would do if the mode were enforce. Answered by the holder of the lease `conductor`; 503 `NOT_LEADER` where nobody holds it, 503 `CONDUCTOR_SLOW` where it does not answer within 2 s.',
  )
  plan(@Query() { node }: PlanQuery) {
    return this.rpc.read('inventory.plan', node === undefined ? {} : { node }, PLAN_LIMIT_MS);
  }

  @Get('diagnosis')
  @Allow(
    'viewer',
    'What a doctor asks: the servers of NATS, the copies of its streams, each agent’s version, clock and links',
    'Nothing is judged: `muster doctor` does. What could not be asked says why.',
  )
  diagnosis() {
    return this.rpc.read('inventory.diagnosis', {}, DIAGNOSIS_LIMIT_MS);
  }

  @Get('workers')
  @Allow('viewer', 'Live fencers and provisioners')
  workers() {
    return this.rpc.read('inventory.workers.list', {});
  }

  @Get('drivers')
  @Allow('viewer', 'Drivers on offer, and those that nodes need and nobody offers')
  async drivers() {
    return driversOf(await this.rpc.read('inventory.status', {}));
  }
}
