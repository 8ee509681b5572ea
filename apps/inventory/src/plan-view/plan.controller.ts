import { Controller } from '@nestjs/common';
import type { RpcAnswer, RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { PlanService } from './plan.service.js';

@Controller()
export class PlanController {
  constructor(private readonly plans: PlanService) {}

  @Rpc('inventory.plan')
  plan(q: RpcRequest<'inventory.plan'>): Promise<RpcAnswer<'inventory.plan'>> {
    return this.plans.plan(q);
  }
}
