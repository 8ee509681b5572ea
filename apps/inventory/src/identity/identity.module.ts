import { Module } from '@nestjs/common';
import { IdentityController } from './identity.controller.js';
import { IdentityReads } from './identity-reads.js';
import { IdentityReconciler } from './identity.reconciler.js';
import { IdentityService } from './identity.service.js';

@Module({
  controllers: [IdentityController],
  providers: [IdentityReads, IdentityReconciler, IdentityService],
  exports: [IdentityReads],
})
export class IdentityModule {}
