import { Module } from '@nestjs/common';
import { ServiceContext } from '#service';
import { CipherBook } from './drivers/cipher-book.js';
import { DriverRegistry } from './drivers/driver-registry.js';
import { IpmitoolDriver } from './drivers/ipmitool.driver.js';
import { FencerService } from './fencer.service.js';
import { BmcQueue } from './power/bmc-queue.js';
import { PowerCommander } from './power/power-commander.js';
import { PowerReader } from './power/power-reader.js';
import { PowerController } from './power/power.controller.js';

/** Powers nodes off and on: one leader by lease, every command with its intent, success only by what is read back. */
@Module({
  controllers: [PowerController],
  providers: [
    BmcQueue,
    CipherBook,
    DriverRegistry,
    FencerService,
    {
      provide: IpmitoolDriver,
      inject: [CipherBook, ServiceContext],
      useFactory: (ciphers: CipherBook, { clock }: ServiceContext) => new IpmitoolDriver(ciphers, clock),
    },
    PowerCommander,
    PowerReader,
  ],
})
export class FencerModule {}
