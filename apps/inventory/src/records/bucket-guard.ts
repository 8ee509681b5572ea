import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  MusterError,
  STORE_DISK_PREFIX,
  STORE_GENERATION_KEY,
  type StoreDiskRecord,
  type StoreGeneration,
  type Timer,
} from '#contracts';
import { BUCKET_BIRTHS_KEY, readDisk, shownCertificate, type BucketBirths, type Disk } from '#bus';
import { ServiceContext } from '#service';
import { isActive } from '../alarms/active.js';
import { AlarmService } from '../alarms/alarm.service.js';
import { keepAlarms, type WantedAlarm } from '../alarms/keep-alarms.js';
import { settingsOf } from '../store/settings-of.js';
import { InventoryStore } from '../store/inventory-store.js';
import { controlHost, hostSubject, isOfHost } from './host-alarms.js';
import { brokenAlarm, type CertificateOwner, expiryAlarms, plainAlarms, whyBroken } from './nats-tls.js';
import { diskToRecord } from './store-disks.js';
import { spaceAlarms } from './store-space.js';
import { decideBirths } from './bucket-births.js';
import { decideLoaded } from './store-loaded.js';
import type { StoreNow } from './put-back.js';
import { StoreMemory } from './store-memory.js';

/** Between two looks, ms. */
const LOOK_MS = 5_000;

/**
 * Every inventory looks whether the buckets are there and the same as before: without bucket `leases` there is no
 * conductor that could.
 */
@Injectable()
export class BucketGuard implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: Timer | undefined;
  private looking: Promise<void> | undefined;
  /** Why the certificate of this one could not be read, as it was logged last, and by how many looks in a row. */
  private readonly unread = new Map<CertificateOwner, { reason: string; why: string | undefined; looks: number }>();
  /** Whose certificate was there at a look: one that never was belongs to a server elsewhere, or there is no TLS. */
  private readonly shown = new Set<CertificateOwner>();

  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly alarms: AlarmService,
    private readonly memory: StoreMemory,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = this.context.clock.every(LOOK_MS, () => this.begin());
    this.begin();
  }

  async onApplicationShutdown(): Promise<void> {
    this.timer?.cancel();
    await this.looking;
  }

  private get host(): string | undefined {
    return controlHost(this.context.config);
  }

  private readonly isOwn = ({ subject }: { subject: string }): boolean => isOfHost(subject, this.host);

  private begin(): void {
    if (!this.context.bus.connected) return;
    this.looking ??= this.check()
      .catch((e: unknown) =>
        this.context.log.warn({ reason: MusterError.from(e).message }, 'the buckets could not be looked at'),
      )
      .finally(() => (this.looking = undefined));
  }

  private async checkGeneration(): Promise<void> {
    const { bucket } = settingsOf<StoreGeneration>(this.store);
    const found = await bucket.read(STORE_GENERATION_KEY);
    // One that cannot be read has an alarm of its own; that of the load stands meanwhile.
    if (found !== undefined && !('value' in found)) return;
    const { alarms, keep } = decideLoaded(found?.value, this.alarms.list());
    // Before the alarm is cleared: else it would be raised again where this process ends in between.
    if (keep !== undefined && found !== undefined) await bucket.update(STORE_GENERATION_KEY, keep, found.revision);
    await keepAlarms(this.alarms, ['store-loaded'], alarms, () => undefined);
  }

  private async checkTls(): Promise<void> {
    const { nats, http, agents } = this.context.config;
    const servers = [...nats.servers, ...Object.values(agents.nats).flat()];
    const plain = plainAlarms({ encrypted: this.context.natsAuthority !== undefined, servers });
    await keepAlarms(this.alarms, ['nats-plain'], plain, () => undefined);
    const wanted = await Promise.all([
      this.expiring('nats', nats.certificate),
      this.expiring('http', http.tls?.certificate),
    ]);
    await keepAlarms(this.alarms, ['certificate-expires'], wanted.flat(), () => undefined, this.isOwn);
    // Of the API's pair its gateway says it, which sees the key as well.
    const isOwn = (a: { subject: string }): boolean =>
      a.subject === 'nats' || a.subject === hostSubject('nats', this.host);
    await keepAlarms(this.alarms, ['certificate-broken'], this.brokenNats(), () => undefined, isOwn);
  }

  /** Seen twice: at the first look it may be half written. What only NATS may read is not broken. */
  private brokenNats(): WantedAlarm[] {
    const seen = this.unread.get('nats');
    return seen?.why === undefined || seen.looks < 2 ? [] : [brokenAlarm('nats', seen.why, this.host)];
  }

  private async expiring(owner: CertificateOwner, certificate: string | undefined): Promise<WantedAlarm[]> {
    if (certificate === undefined) return [];
    if (existsSync(certificate)) this.shown.add(owner);
    else if (!this.shown.has(owner)) return [];
    const endsAt = await this.endOf(owner, certificate);
    const subject = hostSubject(owner, this.host);
    // Half written: the next look finds the rest.
    return endsAt === undefined
      ? this.alarms.list().filter((a) => isActive(a) && a.code === 'certificate-expires' && a.subject === subject)
      : expiryAlarms(owner, endsAt, this.context.clock.wallMs(), this.host);
  }

  /** ms of the wall clock; undefined: it cannot be read, or is no certificate. What else is looked at does not wait for it. */
  private async endOf(owner: CertificateOwner, certificate: string): Promise<number | undefined> {
    try {
      const { endsAt } = shownCertificate(await readFile(certificate, 'utf8'));
      this.unread.delete(owner);
      return endsAt;
    } catch (e) {
      const { message: reason, code } = e as NodeJS.ErrnoException;
      const before = this.unread.get(owner);
      if (before?.reason !== reason)
        this.context.log.warn({ certificate, reason }, 'when this certificate ends cannot be told');
      this.unread.set(owner, { reason, why: whyBroken(code), looks: (before?.looks ?? 0) + 1 });
      return undefined;
    }
  }

  /** For the inventories of the other control hosts, which cannot see it. */
  private async recordDisk(disk: Disk): Promise<void> {
    if (this.host === undefined) return;
    const { bucket, view } = settingsOf<StoreDiskRecord>(this.store);
    const key = `${STORE_DISK_PREFIX}${this.host}`;
    const record = diskToRecord(view.get(key)?.value, disk, this.context.clock.wallMs());
    if (record !== undefined) await bucket.mutate(key, () => record, { overUnreadable: true });
  }

  /** What else is looked at does not wait for it. */
  private async compare(facts: StoreNow['buckets']): Promise<void> {
    try {
      await this.memory.check(facts);
    } catch (e) {
      const { message: reason } = MusterError.from(e);
      this.context.log.error({ reason }, 'whether the files of NATS were put back could not be told, or not acted on');
    }
  }

  private async check(): Promise<void> {
    const { bus, config } = this.context;
    const facts = await bus.bucketFacts();
    const births = new Map([...facts].map(([name, f]) => [name, f?.created]));
    if (births.get('settings') !== undefined) await this.compare(facts);
    const { bucket } = settingsOf<BucketBirths>(this.store);
    const found = births.get('settings') === undefined ? undefined : await bucket.read(BUCKET_BIRTHS_KEY);
    const kept = found !== undefined && 'value' in found ? found.value : undefined;
    const decided = decideBirths(births, kept, this.alarms.list());
    if (decided.make.length > 0) {
      await bus.createBuckets({ replicas: config.replicas, only: decided.make });
      this.context.log.error({ buckets: decided.make }, 'buckets that had vanished were made again');
    }
    if (births.get('alarms') !== undefined)
      await keepAlarms(this.alarms, ['bucket-anew'], decided.alarms, () => undefined);
    if (config.nats.store !== undefined && births.get('alarms') !== undefined) {
      const disk = await readDisk(config.nats.store);
      const wanted = spaceAlarms(disk, this.alarms.list(), this.host);
      await keepAlarms(this.alarms, ['store-space'], wanted, () => undefined, this.isOwn);
      if (disk !== undefined && births.get('settings') !== undefined) await this.recordDisk(disk);
    }
    if (births.get('alarms') !== undefined) await this.checkTls();
    if (births.get('alarms') !== undefined && births.get('settings') !== undefined) await this.checkGeneration();
    const { keep } = decided;
    if (keep !== undefined && births.get('settings') !== undefined)
      await bucket.mutate(BUCKET_BIRTHS_KEY, () => keep, { overUnreadable: true });
  }
}
