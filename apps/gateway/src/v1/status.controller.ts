import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Allow } from '../auth/roles.js';
import { RpcClient } from '../rpc/rpc-client.js';
import { driversOf } from './drivers.js';

@ApiTags('status')
@Controller('v1')
export class StatusController {
  constructor(private readonly rpc: RpcClient) {}

  @Get('status')
  @Allow('viewer', 'The whole on one page: mode, leases, detector, brake, incidents, alarms, nodes out and why')
  status() {
    return this.rpc.read('inventory.status', {});
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
