import { Module } from '@nestjs/common';
import { DegradedClock } from './degraded-clock.js';
import { FleetEvents } from './fleet-events.js';
import { VerdictConsumer } from './verdict.consumer.js';
import { VerdictService } from './verdict.service.js';

@Module({
  providers: [DegradedClock, FleetEvents, VerdictConsumer, VerdictService],
  exports: [FleetEvents, VerdictService],
})
export class NodeStateModule {}
