import { Injectable } from '@nestjs/common';
import {
  checkDetection,
  checkStorm,
  completeSettings,
  defaultSettings,
  MusterError,
  SETTINGS_KEY,
  type ClusterSettings,
  type WithRevision,
} from '#contracts';
import { ServiceContext } from '#service';
import { InventoryStore } from '../store/inventory-store.js';

/** The settings of the cluster: one value, so that they are validated as one set. */
@Injectable()
export class SettingsService {
  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
  ) {}

  /** A new installation starts with the `initial` part of the configuration; later it is never looked at again. */
  async writeInitial(): Promise<void> {
    const { cluster, initial } = this.context.config;
    const first: ClusterSettings = { ...defaultSettings(cluster), ...initial, cluster };
    checkDetection(first.detection);
    checkStorm(first.fencing.storm);
    await this.store.settings.bucket.mutate(SETTINGS_KEY, (current) => (current ? undefined : first));
  }

  async get(): Promise<WithRevision<ClusterSettings>> {
    const entry = await this.store.settings.bucket.get(SETTINGS_KEY);
    if (!entry) throw new MusterError('NOT_FOUND', 'there are no settings yet: inventory writes them at its start');
    return { ...completeSettings(entry.value), revision: entry.revision };
  }

  /** Replaces all globals; absent changes nothing. */
  async putGlobals(extraVars: Record<string, unknown> | undefined): Promise<Record<string, unknown>> {
    if (extraVars === undefined) return (await this.get()).globals;
    const done = await this.store.settings.bucket.mutate(SETTINGS_KEY, (current) => ({
      ...(current?.value ?? defaultSettings(this.store.cluster)),
      globals: extraVars,
    }));
    return done.value?.globals ?? {};
  }
}
