import { Module } from '@nestjs/common';
import { FreshIdentityService } from './fresh-identity.service.js';
import { IdentityController } from './identity.controller.js';
import { IdentityReads } from './identity-reads.js';
import { IdentityService } from './identity.service.js';

@Module({
  controllers: [IdentityController],
  providers: [FreshIdentityService, IdentityReads, IdentityService],
  exports: [FreshIdentityService, IdentityReads],
})
export class IdentityModule {}
