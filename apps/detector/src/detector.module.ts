import { Module } from '@nestjs/common';
import { ServiceContext } from '#service';
import { DetectorService } from './detector.service.js';
import { ownProbeNet } from './probe/own-probe-net.js';

@Module({
  providers: [
    {
      provide: DetectorService,
      inject: [ServiceContext],
      useFactory: (context: ServiceContext) => new DetectorService(context, ownProbeNet(context.clock)),
    },
  ],
})
export class DetectorModule {}
