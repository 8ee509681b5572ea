import { Injectable } from '@nestjs/common';
import {
  changedPaths,
  checkSettings,
  completeSettings,
  defaultSettings,
  MusterError,
  patchedSettings,
  SETTINGS_KEY,
  shownSettings,
  unmasked,
  type ClustermConfig,
  type ClusterSettings,
  type WithRevision,
} from '#contracts';
import { ServiceContext } from '#service';
import { refuseOtherRevision } from '../store/settings-revision.js';
import { InventoryStore } from '../store/inventory-store.js';
import { ansibleFromClusterm, clustermConfig, inClustermWords } from './clusterm-config.js';

/**
 * The settings of the cluster: one value, so that they are validated as one set. They are in force at once: services
 * watch or read that value, and agents get their part with their peer list.
 */
@Injectable()
export class SettingsService {
  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
  ) {}

  /** A new installation starts with the `initial` part of the configuration; later it is never looked at again. */
  async writeInitial(): Promise<void> {
    const { cluster, initial } = this.context.config;
    const first = checkSettings({ ...defaultSettings(cluster), ...initial, cluster });
    try {
      await this.store.settings.bucket.mutate(SETTINGS_KEY, (current) => (current ? undefined : this.stored(first)));
    } catch (e) {
      // There are some, and whoever deletes them gets the initial ones: until then nothing is fenced.
      if (MusterError.from(e).code !== 'RECORD_UNREADABLE') throw e;
      this.store.bus.log.error({ reason: MusterError.from(e).message }, 'the settings of the cluster cannot be read');
    }
  }

  /** Secrets masked. */
  async get(): Promise<WithRevision<ClusterSettings>> {
    return shownSettings(await this.read());
  }

  /** @throws MusterError SETTINGS_INVALID, REVISION_CONFLICT; nothing is changed then */
  async patch(patch: Record<string, unknown>, revision?: number): Promise<WithRevision<ClusterSettings>> {
    return shownSettings(
      await this.change((current) => {
        const next = patchedSettings(current, patch) as ClusterSettings;
        refuseOthers(current, next);
        return next;
      }, revision),
    );
  }

  /** Replaces all globals; absent changes nothing. */
  async putGlobals(extraVars: Record<string, unknown> | undefined): Promise<Record<string, unknown>> {
    if (extraVars === undefined) return (await this.get()).globals;
    const is = await this.change((current) => ({
      ...current,
      globals: unmasked(extraVars, current.globals, 'globals'),
    }));
    return shownSettings(is).globals;
  }

  async clustermConfig(): Promise<ClustermConfig> {
    return this.asClusterm(await this.read());
  }

  /** @throws MusterError BAD_REQUEST with the operations contract's texts, SETTINGS_INVALID */
  async putClustermConfig(config: unknown): Promise<ClustermConfig> {
    try {
      return this.asClusterm(
        await this.change((current) => ({
          ...current,
          ansible: ansibleFromClusterm(config, this.configFacts(current)),
        })),
      );
    } catch (e) {
      throw inClustermWords(MusterError.from(e));
    }
  }

  private asClusterm(settings: ClusterSettings): ClustermConfig {
    return clustermConfig(this.configFacts(settings));
  }

  private configFacts(settings: ClusterSettings): Parameters<typeof clustermConfig>[0] {
    const { ansible, folder, http } = this.context.config;
    return {
      config: ansible,
      settings: settings.ansible,
      listen: http.listen,
      ...(folder !== undefined && { folder }),
    };
  }

  private async read(): Promise<WithRevision<ClusterSettings>> {
    const entry = await this.store.settings.bucket.get(SETTINGS_KEY);
    if (!entry) throw noSettings();
    return { ...this.clear(entry.value), revision: entry.revision };
  }

  /** Secrets of them are sealed at rest: who can read the store, or a copy of it, cannot read them. */
  private stored(s: ClusterSettings): ClusterSettings {
    const { extraVars } = s.ansible;
    const ansible = extraVars === undefined ? s.ansible : { ...s.ansible, extraVars: this.store.sealed(extraVars) };
    return { ...s, globals: this.store.sealed(s.globals), ansible, webhooks: this.store.sealed(s.webhooks) };
  }

  private clear(s: ClusterSettings): ClusterSettings {
    return this.store.opened(completeSettings(s));
  }

  private async change(
    to: (current: ClusterSettings) => unknown,
    expected?: number,
  ): Promise<WithRevision<ClusterSettings>> {
    let changed: string[] = [];
    const done = await this.store.settings.bucket.mutate(SETTINGS_KEY, (entry) => {
      if (!entry) throw noSettings();
      refuseOtherRevision(entry, expected);
      const before = this.clear(entry.value);
      const next = checkSettings(to(before), { before, nodes: this.nodes() });
      changed = changedPaths(before, next);
      return changed.length === 0 ? undefined : this.stored(next);
    });
    const { value, revision } = done;
    if (value === undefined) throw noSettings();
    if (done.changed) await this.store.bus.emit('settings', SETTINGS_KEY, { changed }, { id: `settings.${revision}` });
    return { ...this.clear(value), revision };
  }

  /** In their host groups, also those that a running job has yet to put there. */
  private nodes(): { name: string; hostGroup?: string; enrolled: boolean }[] {
    const { held } = this.store;
    return this.store.nodes.view.entries().map(({ key, value }) => {
      const hostGroup = held[key]?.hostGroup ?? value.hostGroup;
      return { name: key, enrolled: value.enrolled, ...(hostGroup !== undefined && { hostGroup }) };
    });
  }
}

const noSettings = (): MusterError =>
  new MusterError('NOT_FOUND', 'there are no settings yet: inventory writes them at its start');

/** What has a route of its own, since more hangs on it than a value. */
function refuseOthers(before: ClusterSettings, next: ClusterSettings): void {
  const paths = changedPaths(before, next);
  const fencing = paths.filter((path) => /^fencing\.(mode|paused)\b/.test(path));
  if (fencing.length > 0)
    throw new MusterError('SETTINGS_INVALID', `${fencing.join(', ')}: mode and pause are set by PUT /v1/fencing`);
  if (paths.includes('cluster'))
    throw new MusterError('SETTINGS_INVALID', 'cluster: the name is given by muster.yaml, and stays');
}
