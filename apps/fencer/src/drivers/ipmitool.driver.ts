import { runGuarded, type GuardedRun, type GuardOptions } from '#bus';
import { MusterError, type Clock, type PowerDevice } from '#contracts';
import { CipherBook } from './cipher-book.js';
import { readIpmitoolAnswer } from './ipmitool-answer.js';
import { IPMI_PORT, type PowerDriver, type PowerOutcome, type PowerRequest } from './power-driver.js';

/** IPMI 2.0 has no room for more. */
const MAX_PASSWORD_BYTES = 20;
/** How often a command's deadline is moved along with the lease, ms. */
const EXTEND_MS = 250;

export const bmcAddress = (d: PowerDevice): string => `${d.address}:${d.port ?? IPMI_PORT}`;

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
    if (Buffer.byteLength(request.password ?? '') > MAX_PASSWORD_BYTES)
      return this.failed(request, 'BMC_AUTH', `IPMI takes passwords of at most ${MAX_PASSWORD_BYTES} bytes`);
    const bmc = bmcAddress(request.device);
    const preferred = request.device.options?.['cipher'];
    if (preferred !== undefined && !/^\d{1,2}$/.test(preferred))
      return this.failed(request, 'BMC_CIPHER', 'option cipher must be the number of a cipher suite');
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

  private async once(request: PowerRequest, suite: string): Promise<PowerOutcome> {
    let run: GuardedRun;
    try {
      run = runGuarded(this.guarded(request, suite));
    } catch (error) {
      return this.notStarted(request, error);
    }
    const extend = this.clock.every(EXTEND_MS, () => run.extend(request.deadline.atNs()));
    try {
      return readIpmitoolAnswer(request.verb, await run.done);
    } catch (error) {
      return this.notStarted(request, error);
    } finally {
      extend.cancel();
    }
  }

  private guarded(request: PowerRequest, suite: string): GuardOptions {
    const { device, verb } = request;
    return {
      command: 'ipmitool',
      args: [
        ...['-v', '-I', 'lanplus', '-H', device.address, '-p', String(device.port ?? IPMI_PORT)],
        ...['-U', device.username ?? '', '-E', '-C', suite, '-L', 'ADMINISTRATOR', '-R', '1', '-N', '5'],
        ...['chassis', 'power', verb],
      ],
      env: { IPMITOOL_PASSWORD: request.password ?? '' },
      deadlineNs: request.deadline.atNs(),
      maxOutput: 16_384,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    };
  }

  /** No process could be started, or its tool is gone: the BMC has heard nothing, and another host may be able to. */
  private notStarted(request: PowerRequest, error: unknown): PowerOutcome {
    return this.failed(request, 'DRIVER_UNAVAILABLE', MusterError.from(error).message);
  }

  private failed(request: PowerRequest, code: Required<PowerOutcome>['code'], detail: string): PowerOutcome {
    return { ok: false, ...(request.verb === 'status' ? { power: 'unknown' as const } : {}), code, detail };
  }
}
