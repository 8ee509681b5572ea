import { runGuarded, type GuardResult } from '#bus';
import { MusterError, type Clock, type PowerDevice } from '#contracts';
import { tellsApart } from '#domain/node/guid.js';
import { CipherBook } from './cipher-book.js';
import { readIpmitoolAnswer } from './ipmitool-answer.js';
import { namedFailure } from './named-failure.js';
import { GET_SYSTEM_GUID, PRINT_FRU, readFru, readGuid } from './ipmitool-identity.js';
import {
  bmcAddress,
  IPMI_PORT,
  type DeviceIdentity,
  type IdentifyRequest,
  type PowerDriver,
  type PowerOutcome,
  type PowerRequest,
} from './power-driver.js';

/** IPMI 2.0 has no room for more. */
const MAX_PASSWORD_BYTES = 20;
/** How often a command's deadline is moved along with the lease, ms. */
const EXTEND_MS = 250;

/**
 * IPMI 2.0 by `ipmitool`. `-R 1`: a slow BMC would carry out a repeated command twice; `-N 5`: with 2 a BMC that needs
 * 3 s for an answer never answers. The whole is bounded by the guard.
 */
export class IpmitoolDriver implements PowerDriver {
  readonly name = 'ipmitool';

  constructor(
    private readonly ciphers: CipherBook,
    private readonly clock: Clock,
  ) {}

  async selfTest(): Promise<string | undefined> {
    try {
      const deadlineNs = this.clock.monotonicNs() + 5_000_000_000n;
      const r = await runGuarded({ command: 'ipmitool', args: ['-V'], deadlineNs }).done;
      return r.exitCode === 0 ? undefined : `ipmitool -V ended with code ${r.exitCode ?? 'none'}`;
    } catch (error) {
      return MusterError.from(error).message;
    }
  }

  async run(request: PowerRequest): Promise<PowerOutcome> {
    return named(request.device, await this.tried(request));
  }

  /** The GUID as raw bytes: versions of ipmitool differ in how they write it. The board's own data where that names none. */
  async identify(request: IdentifyRequest): Promise<DeviceIdentity> {
    return named(request.device, await this.identified(request));
  }

  private async tried(request: PowerRequest): Promise<PowerOutcome> {
    const wrong = impossible(request);
    if (wrong !== undefined) return this.failed(request, wrong.code, wrong.detail);
    const bmc = bmcAddress(request.device);
    const preferred = request.device.options?.['cipher'];
    let outcome: PowerOutcome = this.failed(request, 'BMC_CIPHER', 'no cipher suite to try');
    for (const suite of this.ciphers.suites(bmc, preferred)) {
      outcome = await this.once(request, suite);
      if (outcome.ok) this.ciphers.worked(bmc, suite);
      else if (outcome.code === 'BMC_TIMEOUT') this.ciphers.silent(bmc, suite, preferred);
      if (outcome.code !== 'BMC_CIPHER') return outcome;
      // Refused while the session was opened: the command itself was not sent, so another suite may be tried.
      this.ciphers.refused(bmc, suite);
    }
    return { ...outcome, detail: 'the BMC takes none of the cipher suites that were tried' };
  }

  private async identified(request: IdentifyRequest): Promise<DeviceIdentity> {
    const wrong = impossible(request);
    if (wrong !== undefined) return wrong;
    const bmc = bmcAddress(request.device);
    let last: DeviceIdentity = { code: 'BMC_CIPHER', detail: 'no cipher suite to try' };
    for (const suite of this.ciphers.suites(bmc, request.device.options?.['cipher'])) {
      try {
        last = readGuid(await this.session(request, suite, GET_SYSTEM_GUID));
        if (last.seen !== undefined) {
          this.ciphers.worked(bmc, suite);
          if (request.quick && tellsApart(last.seen.guid)) return last;
          return { seen: { ...last.seen, ...readFru((await this.session(request, suite, PRINT_FRU)).stdout) } };
        }
      } catch (error) {
        return notStarted(error);
      }
      if (last.code !== 'BMC_CIPHER') return last;
      this.ciphers.refused(bmc, suite);
    }
    return last;
  }

  private async once(request: PowerRequest, suite: string): Promise<PowerOutcome> {
    try {
      return readIpmitoolAnswer(request.verb, await this.session(request, suite, ['chassis', 'power', request.verb]));
    } catch (error) {
      const { code, detail } = notStarted(error);
      return this.failed(request, code, detail);
    }
  }

  /** @throws where no process could be started */
  private async session(
    request: Omit<PowerRequest, 'verb'>,
    suite: string,
    words: readonly string[],
  ): Promise<GuardResult> {
    const { device } = request;
    const run = runGuarded({
      command: 'ipmitool',
      args: [
        ...['-v', '-I', 'lanplus', '-H', device.address, '-p', String(device.port ?? IPMI_PORT)],
        ...['-U', device.username ?? '', '-E', '-C', suite, '-L', 'ADMINISTRATOR', '-R', '1', '-N', '5'],
        ...words,
      ],
      env: { IPMITOOL_PASSWORD: request.password ?? '' },
      deadlineNs: request.deadline.atNs(),
      maxOutput: 16_384,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const extend = this.clock.every(EXTEND_MS, () => run.extend(request.deadline.atNs()));
    try {
      return await run.done;
    } finally {
      extend.cancel();
    }
  }

  private failed(request: PowerRequest, code: Required<PowerOutcome>['code'], detail: string): PowerOutcome {
    return { ok: false, ...(request.verb === 'status' ? { power: 'unknown' as const } : {}), code, detail };
  }
}

/** No process could be started, or its tool is gone: the BMC has heard nothing, and another host may be able to. */
const notStarted = (error: unknown) =>
  ({ code: 'DRIVER_UNAVAILABLE', detail: MusterError.from(error).message }) satisfies DeviceIdentity;

/** Whoever reads of a failure must know which device it was. */
function named<T extends PowerOutcome | DeviceIdentity>(device: PowerDevice, outcome: T): T {
  if (!('code' in outcome) || outcome.code === undefined || outcome.detail === undefined) return outcome;
  return { ...outcome, detail: namedFailure(bmcAddress(device), device, outcome.code, outcome.detail) };
}

/** What no BMC can be asked with. */
function impossible(r: Omit<PowerRequest, 'verb'>): { code: 'BMC_AUTH' | 'BMC_CIPHER'; detail: string } | undefined {
  if (Buffer.byteLength(r.password ?? '') > MAX_PASSWORD_BYTES)
    return { code: 'BMC_AUTH', detail: `IPMI takes passwords of at most ${MAX_PASSWORD_BYTES} bytes` };
  const preferred = r.device.options?.['cipher'];
  if (preferred !== undefined && !/^\d{1,2}$/.test(preferred))
    return { code: 'BMC_CIPHER', detail: 'option cipher must be the number of a cipher suite' };
  return undefined;
}
