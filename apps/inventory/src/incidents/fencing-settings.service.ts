import { Injectable } from '@nestjs/common';
import {
  MusterError,
  SETTINGS_KEY,
  changedPaths,
  completeSettings,
  defaultSettings,
  readStorm,
  type FencingSettings,
  type IncidentRecord,
  type NodeRecord,
  type RpcAnswer,
  type RpcRequest,
} from '#contracts';
import { LAST_DATE_MS } from '#contracts/rpc/requests.js';
import { isFencedByVerdict, unfenceable } from '#domain/node/to-be-fenced.js';
import { isMember } from '#domain/node/membership.js';
import { InventoryStore } from '../store/inventory-store.js';
import { IdentityReads } from '../identity/identity-reads.js';
import { GateFactsService } from './gate-facts.js';
import { IncidentService } from './incident.service.js';
import { failedTest } from './self-test.js';
import { weaknesses } from './weaknesses.js';
import { mayCommand, stopped } from './stop-order.js';

/** Power devices read at once for the self-test: more than 64 sessions at once time out on one machine. */
const READS_AT_ONCE = 32;
/** One command limit, and the way there and back: by then also the fencer was answered that keeps others from a device. */
const READ_MS = 7_500;
/** Between two looks at a device that is in use by a fencing, ms. */
const BUSY_AGAIN_MS = 250;

/** Mode and pause of fencing. */
@Injectable()
export class FencingSettingsService {
  constructor(
    private readonly store: InventoryStore,
    private readonly incidents: IncidentService,
    private readonly gates: GateFactsService,
    private readonly identity: IdentityReads,
  ) {}

  /** @throws MusterError SETTINGS_INVALID; FENCING_REFUSED naming the nodes that could not be fenced */
  async put(q: RpcRequest<'inventory.fencing.put'>): Promise<RpcAnswer<'inventory.fencing.put'>> {
    if (q.storm !== undefined) readStorm(q.storm, this.store.clusterSettings.fencing.storm);
    if (q.mode === 'enforce' && this.store.clusterSettings.fencing.mode !== 'enforce')
      await this.refuseUntested(new Set(q.except ?? []));
    let changed: string[] = [];
    const done = await this.store.settings.bucket.mutate(SETTINGS_KEY, (current) => {
      const was = completeSettings(current?.value ?? defaultSettings(this.store.cluster));
      const { paused: _ended, ...rest } = was.fencing;
      const fencing: FencingSettings = { ...rest, mode: q.mode };
      if (q.storm !== undefined) fencing.storm = readStorm(q.storm, was.fencing.storm);
      if (q.paused !== undefined) fencing.paused = { ...readPause(q.paused), by: q.by };
      changed = changedPaths({ fencing: was.fencing }, { fencing });
      return { ...was, fencing };
    });
    const fencing = done.value?.fencing;
    if (fencing === undefined) throw new MusterError('INTERNAL', 'the settings vanished');
    if (fencing.paused !== undefined || fencing.mode === 'observe') await this.stopRunning(fencing, q.by);
    // Only then: what is on its way to a command does not wait for the word about it.
    if (done.changed)
      await this.store.bus.emit('settings', SETTINGS_KEY, { changed }, { id: `settings.${done.revision}` });
    const warnings = fencing.mode === 'enforce' ? this.warnings() : [];
    return warnings.length > 0 ? { ...fencing, warnings } : fencing;
  }

  private warnings(): string[] {
    const members = this.store.nodes.view.entries().filter((e) => isMember(e.value)).length;
    const witness = this.store.clusterSettings.witness ?? '';
    return weaknesses({ members, witness }).map((w) => `${w.text} ${w.remedy.text} (${w.remedy.command})`);
  }

  /** Every node that would be fenced must have power devices, and each must answer now. */
  private async refuseUntested(except: ReadonlySet<string>): Promise<void> {
    const nodes = this.store.nodes.view
      .entries()
      .map((e) => e.value)
      .filter((n) => isFencedByVerdict(n) && !except.has(n.name));
    const failed: Record<string, string> = {};
    const queue = [...nodes];
    const next = async (): Promise<void> => {
      for (let n = queue.shift(); n !== undefined; n = queue.shift()) {
        const why = await this.selfTest(n);
        if (why !== undefined) failed[n.name] = why;
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, next));
    const names = Object.keys(failed).sort();
    if (names.length === 0) return;
    throw new MusterError(
      'FENCING_REFUSED',
      `These nodes have no power device that passes its test: ${names.map((n) => `${n} (${failed[n]})`).join(', ')}. Repair them, or name them in "except".`,
      { nodes: names },
    );
  }

  private async selfTest(node: NodeRecord): Promise<string | undefined> {
    if (!node.powerLevels.some((level) => level.length > 0)) return 'none';
    try {
      const failed = await this.devicesFail(node.name);
      if (failed !== undefined) return failed;
      // What cannot be read now keeps what was found before.
      await this.identity.read(node.name).catch(() => []);
      const now = (await this.store.nodes.bucket.get(node.name))?.value ?? node;
      return unfenceable({ node: now, otherFencers: 1, sharedPlace: this.gates.sharedPlace(now) });
    } catch (e) {
      return MusterError.from(e).code;
    }
  }

  /** A node that is being fenced is waited for: by then its fencer was answered, or its fencing is over. */
  private async devicesFail(node: string): Promise<string | undefined> {
    const { bus, clock, incidents } = this.store;
    const incident = async (): Promise<IncidentRecord | undefined> => (await incidents.bucket.get(node))?.value;
    const until = clock.monotonicMs() + READ_MS;
    const before = await incident();
    for (;;) {
      const timeoutMs = Math.max(BUSY_AGAIN_MS, until - clock.monotonicMs());
      const { devices } = await bus.call('fencer.power.read', { node }, { timeoutMs });
      const failed = failedTest(devices, before, await incident());
      if (failed === undefined) return undefined;
      if (!failed.busy || clock.monotonicMs() >= until) return failed.why;
      await clock.sleep(BUSY_AGAIN_MS);
    }
  }

  /** Writes the key of every incident that is on its way to a command, off or on. */
  private async stopRunning(f: FencingSettings, by: string): Promise<void> {
    for (const { value } of await this.store.incidents.bucket.list())
      if (mayCommand(value))
        await this.incidents.change(value.node, value.id, (now) => stopped(now, f, by, this.store.clock.wallMs()));
  }
}

/** As of every other request. */
const LONGEST_REASON = 500;

function readPause(p: { until: number; reason: string }): { until: number; reason: string } {
  const dated = Number.isSafeInteger(p.until) && p.until > 0 && p.until <= LAST_DATE_MS;
  if (!dated || typeof p.reason !== 'string' || p.reason.length === 0)
    throw new MusterError('BAD_REQUEST', 'paused needs "until" (a time in ms) and a "reason"');
  if (p.reason.length > LONGEST_REASON || /[\r\n]/.test(p.reason))
    throw new MusterError('BAD_REQUEST', `the "reason" of paused is one line of at most ${LONGEST_REASON} characters`);
  return { until: p.until, reason: p.reason };
}
