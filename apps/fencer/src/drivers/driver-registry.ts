import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ServiceContext } from '#service';
import { IpmitoolDriver } from './ipmitool.driver.js';
import type { OfferedDrivers, PowerDriver } from './power-driver.js';

/** The drivers of this host: only those that passed their self-test are offered. */
@Injectable()
export class DriverRegistry implements OfferedDrivers, OnModuleInit {
  private readonly all: PowerDriver[];
  private readonly passed = new Map<string, PowerDriver>();

  constructor(
    private readonly context: ServiceContext,
    ipmitool: IpmitoolDriver,
  ) {
    this.all = [ipmitool];
  }

  /** Before the leader starts: an incident must not fail for a driver that was only not tested yet. */
  async onModuleInit(): Promise<void> {
    await this.test();
  }

  /** Tests every driver anew; a tool may have been installed or removed. Returns the names on offer. */
  async test(): Promise<string[]> {
    for (const driver of this.all) {
      const fault = await driver.selfTest();
      const offered = this.passed.has(driver.name);
      if (fault === undefined) this.passed.set(driver.name, driver);
      else this.passed.delete(driver.name);
      if (fault !== undefined && offered)
        this.context.log.error({ driver: driver.name, fault }, 'power driver is lost');
      else if (fault !== undefined)
        this.context.log.warn({ driver: driver.name, fault }, 'power driver is not offered');
      else if (!offered) this.context.log.info({ driver: driver.name }, 'power driver passed its self-test');
    }
    return this.names();
  }

  names(): string[] {
    return [...this.passed.keys()];
  }

  get(name: string): PowerDriver | undefined {
    return this.passed.get(name);
  }
}
