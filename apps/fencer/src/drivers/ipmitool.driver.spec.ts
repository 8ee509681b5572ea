import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#bus';
import type { PowerVerb } from '#contracts';
import { startBmc, type TestBmc } from '../testing/bmc.js';
import { CipherBook } from './cipher-book.js';
import { IpmitoolDriver } from './ipmitool.driver.js';
import type { PowerOutcome } from './power-driver.js';

describe('ipmitool driver against a real BMC', () => {
  let bmc: TestBmc;
  let driver: IpmitoolDriver;
  let book: CipherBook;
  beforeEach(async () => {
    bmc = await startBmc();
    book = new CipherBook();
    driver = new IpmitoolDriver(book, systemClock);
  });
  afterEach(() => bmc.stop());

  function run(verb: PowerVerb, o: { password?: string; ms?: number; cipher?: string } = {}): Promise<PowerOutcome> {
    const atNs = process.hrtime.bigint() + BigInt((o.ms ?? 20_000) * 1e6);
    const device = { ...bmc.device, ...(o.cipher === undefined ? {} : { options: { cipher: o.cipher } }) };
    return driver.run({ device, verb, password: o.password ?? 's3cret', deadline: { atNs: () => atNs } });
  }

  it('passes its self-test where ipmitool is installed', async () => {
    expect(await driver.selfTest()).toBeUndefined();
  });

  it('reads, powers off and on', async () => {
    expect(await run('status')).toEqual({ ok: true, power: 'on' });
    expect(await run('off')).toEqual({ ok: true });
    expect(bmc.power()).toBe('off');
    expect(await run('status')).toEqual({ ok: true, power: 'off' });
    expect(await run('on')).toEqual({ ok: true });
    expect(bmc.log()).toEqual(['get power', 'set power 0', 'get power', 'set power 1']);
  });

  it('finds the cipher suite that the BMC takes, and remembers it', async () => {
    const asked: string[][] = [];
    const suites = book.suites.bind(book);
    book.suites = (bmc, preferred) => asked[asked.push(suites(bmc, preferred)) - 1] as string[];
    expect(await run('status')).toEqual({ ok: true, power: 'on' });
    expect(await run('status', { cipher: '17' })).toEqual({ ok: true, power: 'on' });
    expect(asked.map(([first]) => first)).toEqual(['17', '3']);
  });

  it('tells a wrong password from a dead BMC', async () => {
    expect(await run('status', { password: 'wrong' })).toMatchObject({ ok: false, power: 'unknown', code: 'BMC_AUTH' });
    expect(await run('off', { password: 'wrong' })).toMatchObject({ ok: false, code: 'BMC_AUTH' });
    expect(await run('status', { password: 'x'.repeat(21) })).toMatchObject({ code: 'BMC_AUTH' });
    await bmc.kill();
    expect(await run('status', { ms: 1500 })).toMatchObject({ ok: false, power: 'unknown', code: 'BMC_TIMEOUT' });
    expect(bmc.log()).toEqual([]);
  });

  it('says so where no cipher suite is taken', async () => {
    class Only17 extends CipherBook {
      override suites(): string[] {
        return ['17'];
      }
    }
    driver = new IpmitoolDriver(new Only17(), systemClock);
    const o = await run('off');
    expect(o).toMatchObject({ ok: false, code: 'BMC_CIPHER' });
    expect(bmc.log()).toEqual([]);
  });

  it('takes the power that is read, not the word of off: a BMC that stays on accepts the order', async () => {
    bmc.fault('stuck_on');
    expect(await run('off')).toEqual({ ok: true });
    expect(await run('status')).toEqual({ ok: true, power: 'on' });
  });

  it('a failing power read is unknown', async () => {
    bmc.fault('fail_get');
    const o = await run('status');
    expect(o).toMatchObject({ ok: false, power: 'unknown' });
  });

  it('says that it could not be started where its tool is gone', async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = '/nowhere';
    try {
      expect(await driver.selfTest()).toContain('ipmitool');
      expect(await run('off')).toMatchObject({ ok: false, code: 'DRIVER_UNAVAILABLE' });
      expect(await run('status')).toMatchObject({ power: 'unknown', code: 'DRIVER_UNAVAILABLE' });
      const deadline = { atNs: () => process.hrtime.bigint() + 20_000_000_000n };
      const who = await driver.identify({ device: bmc.device, password: 's3cret', deadline, quick: true });
      expect(who).toMatchObject({ code: 'DRIVER_UNAVAILABLE' });
    } finally {
      process.env['PATH'] = path;
    }
  });

  it('is ended at its deadline, and not begun after it', async () => {
    bmc.fault('slow', '5');
    const start = performance.now();
    expect(await run('status', { ms: 1500 })).toMatchObject({ power: 'unknown', code: 'BMC_TIMEOUT' });
    expect(performance.now() - start).toBeLessThan(4500);
    expect(await run('off', { ms: -1 })).toMatchObject({ ok: false, code: 'DEADLINE_PASSED' });
    expect(bmc.log()).not.toContain('set power 0');
  });

  it('shows the password to nobody: not in argv of any process while it runs', async () => {
    bmc.fault('slow', '1');
    const seen: string[] = [];
    const look = setInterval(() => {
      for (const pid of readdirSync('/proc').filter((p) => /^\d+$/.test(p)))
        try {
          seen.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
        } catch {
          seen.push('');
        }
    }, 100);
    await run('status');
    clearInterval(look);
    expect(seen.some((line) => line.includes('lanplus'))).toBe(true);
    expect(seen.filter((line) => line.includes('s3cret'))).toEqual([]);
  });
});
