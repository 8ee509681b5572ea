import {
  defaultSettings,
  DetectionProfiles,
  SETTINGS_KEY,
  type ClusterSettings,
  type DetectionSettings,
  type NodeRecord,
} from '#contracts';
import { FleetView, type Records } from '../../apps/detector/src/fleet/fleet-view.js';
import type { History } from './history.js';

/** The registry as this history has it, and as the detector follows it. */
export class SimRegistry {
  readonly view: FleetView;
  /** It is being followed. */
  live = true;
  private settings: ClusterSettings;

  constructor(h: History, names: readonly string[]) {
    const networks = Object.fromEntries(h.networks.map((n) => [n, { address: '127.0.0.1' }]));
    const record = (name: string, i: number): NodeRecord =>
      ({
        name,
        networks,
        vars: {},
        enrolled: true,
        ...(h.roles[i] === 'cordoned' && { cordon: { reason: 'sim', by: 'sim', at: 0 } }),
        ...(h.roles[i] === 'off' && { confirmedOff: { at: 0, incident: name } }),
      }) as unknown as NodeRecord;
    const nodes = new Map(names.map((name, i) => [name, record(name, i)]));
    this.settings = {
      ...defaultSettings('sim'),
      detection: DetectionProfiles[h.profile],
      leaveGrace: h.leaveGrace,
    };
    this.view = new FleetView(
      this.records((key) => nodes.get(key), [...nodes.keys()]),
      this.records((key) => (key === SETTINGS_KEY ? this.settings : undefined), [SETTINGS_KEY]),
      'sim',
    );
  }

  change(detection: DetectionSettings): void {
    this.settings = { ...this.settings, detection };
  }

  private records<T>(valueOf: (key: string) => T | undefined, keys: readonly string[]): Records<T> {
    const isLive = (): boolean => this.live;
    return {
      get live() {
        return isLive();
      },
      get: (key) => {
        const value = valueOf(key);
        return value && { value };
      },
      entries: () => keys.map((key) => ({ key, value: valueOf(key) as T, revision: 1 })),
      onChange: () => () => undefined,
    };
  }
}
