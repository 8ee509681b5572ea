import { Injectable } from '@nestjs/common';

/** Cipher suites in the order in which they are tried: 17 is the strongest that is common, 3 every BMC has. */
const SUITES = ['17', '3'] as const;

/**
 * Which cipher suite each BMC takes. A wrong one is refused at once by most, and answered with silence by some: so a
 * suite that was not yet seen working goes to the end of the line after a silence.
 */
@Injectable()
export class CipherBook {
  private readonly known = new Map<string, string>();
  private readonly order = new Map<string, string[]>();

  /** Suites to try now, best first. `preferred`: the device's option `cipher`. */
  suites(bmc: string, preferred?: string): string[] {
    const known = this.known.get(bmc);
    if (known !== undefined) return [known, ...this.line(bmc, preferred).filter((s) => s !== known)];
    return this.line(bmc, preferred);
  }

  worked(bmc: string, suite: string): void {
    this.known.set(bmc, suite);
  }

  /** The BMC said that it does not take the suite. */
  refused(bmc: string, suite: string): void {
    if (this.known.get(bmc) === suite) this.known.delete(bmc);
  }

  /** The BMC said nothing. */
  silent(bmc: string, suite: string, preferred?: string): void {
    if (this.known.has(bmc)) return;
    const line = this.line(bmc, preferred).filter((s) => s !== suite);
    this.order.set(bmc, [...line, suite]);
  }

  private line(bmc: string, preferred?: string): string[] {
    const line = this.order.get(bmc) ?? (preferred === undefined ? [...SUITES] : [preferred, ...SUITES]);
    return [...new Set(line)];
  }
}
