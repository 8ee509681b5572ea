import { Module } from '@nestjs/common';
import { ClaimExpiryReconciler } from './claim-expiry.reconciler.js';
import { ClaimsController } from './claims.controller.js';
import { ClaimsService } from './claims.service.js';

@Module({
  controllers: [ClaimsController],
  providers: [ClaimsService, ClaimExpiryReconciler],
  exports: [ClaimsService],
})
export class ClaimsModule {}
