import { Injectable } from '@nestjs/common';
import { ServiceContext } from '#service';
import { IpmitoolDriver } from './ipmitool.driver.js';
import type { PowerDriver, PowerDrivers } from './power-driver.js';

/** The drivers that this host may have. One whose tool is missing says so when it is tested, and when it is used. */
@Injectable()
export class DriverRegistry implements PowerDrivers {
  private readonly all: readonly PowerDriver[];

  constructor(
    private readonly context: ServiceContext,
    ipmitool: IpmitoolDriver,
  ) {
    this.all = [ipmitool];
  }

  async test(): Promise<string[]> {
    const passed: string[] = [];
    for (const driver of this.all) {
      const fault = await driver.selfTest();
      if (fault === undefined) passed.push(driver.name);
      else
        this.context.log.warn(
          { driver: driver.name, fault },
          'power driver fails its self-test: install or repair its program on this host',
        );
    }
    return passed;
  }

  get(name: string): PowerDriver | undefined {
    return this.all.find((driver) => driver.name === name);
  }
}
