import type { BucketBirths } from '#bus';
import type { AlarmRecord, BucketName } from '#contracts';
import type { WantedAlarm } from '../alarms/keep-alarms.js';

export type Births = ReadonlyMap<BucketName, Date | undefined>;

/**
 * Buckets that may be made again while everything runs: what they held is told anew by who is alive, and tokens are
 * kept in mind elsewhere. Any other one that is lost is for people: an empty one would say that nothing is held, open,
 * or known.
 */
const renewable: readonly BucketName[] = ['leases', 'workers', 'idempotency'];

/** An installation makes its buckets within so long of each other, ms. */
const TOGETHER_MS = 600_000;

export interface BirthsDecision {
  /** To be made again now. */
  make: BucketName[];
  alarms: WantedAlarm[];
  /** To be kept from now on; undefined: what is kept stands. */
  keep?: BucketBirths;
}

/**
 * What follows from the buckets as they are. An alarm stands until somebody has acknowledged it: then the bucket is as
 * it should be.
 * @param kept as last found right; undefined: never looked at
 */
export function decideBirths(
  births: Births,
  kept: BucketBirths | undefined,
  stands: readonly Pick<AlarmRecord, 'code' | 'subject' | 'acknowledged'>[],
): BirthsDecision {
  const alarms: WantedAlarm[] = [];
  const created: Record<string, string> = { ...kept?.created };
  for (const [bucket, at] of births) {
    const known = kept === undefined ? firstSeen(bucket, births) : created[bucket];
    const seen = stands.some((a) => a.code === 'bucket-anew' && a.subject === bucket && a.acknowledged !== undefined);
    if (at === undefined) alarms.push(alarmOf(bucket, 'is not there', remedyOfMissing(bucket)));
    else if (known === undefined || known === at.toISOString() || seen) created[bucket] = at.toISOString();
    else
      alarms.push(
        alarmOf(
          bucket,
          `was made anew at ${at.toISOString()}, and is not the one of ${known}`,
          `What it held is lost. Check what it stands for, then: muster alarms ack bucket-anew=${bucket}`,
        ),
      );
  }
  const make = renewable.filter((bucket) => births.has(bucket) && births.get(bucket) === undefined);
  const isNews = JSON.stringify(created) !== JSON.stringify(kept?.created ?? {});
  return { make, alarms, ...(isNews && { keep: { created } }) };
}

/** Nothing is kept, maybe because just that bucket was lost: then it is far younger than the registry. */
function firstSeen(bucket: BucketName, births: Births): string | undefined {
  const [at, nodes] = [births.get(bucket), births.get('nodes')];
  if (bucket !== 'settings' || at === undefined || nodes === undefined) return undefined;
  return at.getTime() - nodes.getTime() > TOGETHER_MS ? nodes.toISOString() : undefined;
}

const remedyOfMissing = (bucket: BucketName): string =>
  renewable.includes(bucket)
    ? 'It is made again by itself.'
    : 'Nothing that needs it goes on. Restore it, or restart inventory to begin it anew, empty.';

const alarmOf = (bucket: BucketName, what: string, remedy: string): WantedAlarm => ({
  code: 'bucket-anew',
  subject: bucket,
  severity: 'critical',
  message: `The bucket ${bucket} of the store ${what}. ${remedy}`,
});
