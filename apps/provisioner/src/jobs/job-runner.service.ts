import { hostname } from 'node:os';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { endDisplaced, ServiceContext } from '#service';
import { ownAnsibleHost } from '../ansible/own-ansible-host.js';
import { JobRunner } from './job-runner.js';

/** The job runner as Nest starts and stops it. */
@Injectable()
export class JobRunnerService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly runner: JobRunner;

  constructor(context: ServiceContext) {
    const { bus, config, log } = context;
    this.runner = new JobRunner({
      bus,
      config,
      log,
      host: config.host.name ?? hostname(),
      ansible: ownAnsibleHost(context),
      displaced: endDisplaced('provisioner', context),
    });
  }

  onApplicationBootstrap(): Promise<void> {
    return this.runner.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.runner.stop();
  }
}
