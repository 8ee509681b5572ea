import { Global, Module } from '@nestjs/common';
import { FleetSource } from './fleet-source.js';

@Global()
@Module({ providers: [FleetSource], exports: [FleetSource] })
export class SnapshotModule {}
