import { Module } from '@nestjs/common';
import { JobRunnerService } from './jobs/job-runner.service.js';

@Module({ providers: [JobRunnerService] })
export class ProvisionerModule {}
