import { Injectable } from '@nestjs/common';
import { openMembers, openSecret, readSecretsKey, type SealedSecret } from '#bus';
import { hasSealed, MusterError, type PowerDevice, type PowerVerb } from '#contracts';
import { ServiceContext } from '#service';
import { DriverRegistry } from '../drivers/driver-registry.js';
import type { DeviceIdentity, PowerDeadline, PowerOutcome } from '../drivers/power-driver.js';
import type { PowerControl, TimedOutcome } from './power-control.js';

/** Gives one command to one device by its driver. */
@Injectable()
export class PowerCommander implements PowerControl {
  private key: Buffer | undefined;

  constructor(
    private readonly context: ServiceContext,
    private readonly drivers: DriverRegistry,
  ) {}

  async run(
    device: PowerDevice,
    verb: PowerVerb,
    deadline: PowerDeadline,
    signal?: AbortSignal,
  ): Promise<TimedOutcome> {
    const { clock } = this.context;
    const start = clock.monotonicMs();
    let outcome: PowerOutcome;
    try {
      const driver = this.drivers.get(device.driver);
      if (driver === undefined) throw new MusterError('DRIVER_UNAVAILABLE', `there is no driver ${device.driver} here`);
      const password = await this.password(device);
      outcome = await driver.run({
        device: this.opened(device),
        verb,
        deadline,
        ...(password === undefined ? {} : { password }),
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      const failure = MusterError.from(error);
      outcome = { ok: false, power: 'unknown', code: failure.code, detail: failure.message };
    }
    const tookMs = Math.round(clock.monotonicMs() - start);
    this.context.metrics.power(verb, outcome.ok, tookMs);
    return { ...outcome, tookMs };
  }

  /** Who the device says it is. Never rejects. */
  async identify(
    device: PowerDevice,
    o: { deadline: PowerDeadline; quick: boolean; signal?: AbortSignal },
  ): Promise<DeviceIdentity> {
    try {
      const driver = this.drivers.get(device.driver);
      if (driver === undefined)
        throw new MusterError('DRIVER_UNAVAILABLE', `driver ${device.driver} is not offered on this host`);
      if (driver.identify === undefined) return { seen: {} };
      const password = await this.password(device);
      return await driver.identify({
        device: this.opened(device),
        ...o,
        ...(password === undefined ? {} : { password }),
      });
    } catch (error) {
      const failure = MusterError.from(error);
      return { code: failure.code, detail: failure.message };
    }
  }

  private async password(device: PowerDevice): Promise<string | undefined> {
    if (device.secret === undefined) return undefined;
    const sealed = await this.context.bus.bucket<SealedSecret>('secrets').get(device.secret);
    if (sealed === undefined)
      throw new MusterError('BMC_AUTH', `the password of device ${device.id} is not in bucket secrets`);
    const key = this.openingKey();
    if (key === undefined)
      throw new MusterError('CONFIG_INVALID', 'keys.secrets is not configured: passwords cannot be opened');
    return openSecret(key, sealed.value);
  }

  /** What was sealed never reaches a device as it stands. @throws MusterError CONFIG_INVALID */
  private opened(device: PowerDevice): PowerDevice {
    if (device.options === undefined || !hasSealed(device.options)) return device;
    return { ...device, options: openMembers(this.openingKey(), device.options) };
  }

  private openingKey(): Buffer | undefined {
    const file = this.context.config.keys.secrets;
    if (file !== undefined) this.key ??= readSecretsKey(file);
    return this.key;
  }
}
