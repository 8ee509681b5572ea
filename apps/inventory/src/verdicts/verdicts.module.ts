import { Module } from '@nestjs/common';
import { VerdictNow } from './verdict-now.js';
import { VerdictController } from './verdict.controller.js';

@Module({
  controllers: [VerdictController],
  providers: [VerdictNow],
  exports: [VerdictNow],
})
export class VerdictsModule {}
