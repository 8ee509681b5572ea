import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { MusterError } from '#contracts';
import { ServiceContext } from '#service';

/** A name is looked up again after this, ms. */
const AGAIN_MS = 60_000;
/** The same while it is not known. */
const UNKNOWN_AGAIN_MS = 5_000;

/** The name service. A simulation plays it here. */
export interface NameService {
  /** Rejects where the name has none, or the service does not answer. */
  addressesOf(name: string): Promise<string[]>;
}

/** The one that this machine is configured with. */
export const ownNameService: NameService = {
  addressesOf: async (name) => (await lookup(name, { all: true })).map((found) => found.address),
};

/** Addresses of names of servers of the bus and of power devices. Never waited for: a power-off must not hang on DNS. */
export class KnownNames {
  private readonly addresses = new Map<string, string[]>();
  private readonly asked = new Map<string, number>();

  constructor(
    private readonly context: ServiceContext,
    private readonly names: NameService,
  ) {}

  /** As last looked up; undefined: not known (yet). */
  of(name: string): readonly string[] | undefined {
    if (isIP(name) !== 0) return [name];
    const again = this.addresses.has(name) ? AGAIN_MS : UNKNOWN_AGAIN_MS;
    if (this.context.clock.monotonicMs() - (this.asked.get(name) ?? -Infinity) >= again) this.ask(name);
    return this.addresses.get(name);
  }

  private ask(name: string): void {
    this.asked.set(name, this.context.clock.monotonicMs());
    this.names.addressesOf(name).then(
      (addresses) => this.addresses.set(name, addresses),
      // What was known before stays: hosts move less often than name services fail.
      (e: unknown) =>
        this.context.log.warn({ name, reason: MusterError.from(e).message }, 'a name could not be looked up'),
    );
  }
}
