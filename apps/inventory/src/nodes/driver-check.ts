import { MusterError, PowerDrivers } from '#contracts';

/** Drivers that Muster has at all. */
const KNOWN: Record<'provisioner' | 'fencer', readonly string[]> = {
  provisioner: ['ansible'],
  fencer: PowerDrivers,
};

/**
 * A node is registered only with drivers that a live worker offers at this moment.
 * @param offered undefined: it is not known who is alive
 * @throws MusterError NO_WORKERS, DRIVER_UNKNOWN or DRIVER_UNAVAILABLE, naming those on offer
 */
export function checkDriver(
  service: 'provisioner' | 'fencer',
  driver: string,
  offered: readonly string[] | undefined,
): void {
  const onOffer = `on offer: [${(offered ?? []).join(' ')}]`;
  if (offered?.includes(driver)) return;
  const facts = { driver, service, offered: offered ?? [] };
  if (!KNOWN[service].includes(driver))
    throw new MusterError('DRIVER_UNKNOWN', `there is no ${service} driver "${driver}"; ${onOffer}`, facts);
  if (offered === undefined || offered.length === 0)
    throw new MusterError('NO_WORKERS', `no ${service} is alive for driver "${driver}"; ${onOffer}`, facts);
  throw new MusterError('DRIVER_UNAVAILABLE', `no live ${service} offers driver "${driver}"; ${onOffer}`, facts);
}
