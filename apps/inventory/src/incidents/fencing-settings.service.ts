import { Injectable } from '@nestjs/common';
import {
  MusterError,
  SETTINGS_KEY,
  changedPaths,
  completeSettings,
  defaultSettings,
  readStorm,
  type ClusterSettings,
  type FencingSettings,
  type IncidentRecord,
  type RpcAnswer,
  type RpcRequest,
} from '#contracts';
import { LAST_DATE_MS } from '#contracts/rpc/requests.js';
import { isFencedByVerdict, unfenceable } from '#domain/node/to-be-fenced.js';
import { isMember } from '#domain/node/membership.js';
import { InventoryStore } from '../store/inventory-store.js';
import { refuseOtherRevision } from '../store/settings-revision.js';
import { IdentityReads } from '../identity/identity-reads.js';
import { GateFactsService } from './gate-facts.js';
import { IncidentService } from './incident.service.js';
import { failedTest } from './self-test.js';
import { SelfTests, type TestOutcome } from './self-tests.js';
import { weaknesses } from './weaknesses.js';
import { stopAll, stopped } from './stopped-incident.js';

/**
 * More than 64 sessions at once time out on one machine. The gateway waits for 10 s: by then it was answered, and nothing
 * is set after that. A fleet whose devices take longer is tested by several requests, a minute apart at most.
 */
const TESTS = { atOnce: 32, withinMs: 8_500, keptMs: 60_000 };
/** Names of nodes in a refusal, at most. */
const NAMED = 5;
/** One command limit, and the way there and back: by then also the fencer was answered that keeps others from a device. */
const READ_MS = 7_500;
/** Between two looks at a device that is in use by a fencing, ms. */
const BUSY_AGAIN_MS = 250;

/** Mode and pause of fencing. */
@Injectable()
export class FencingSettingsService {
  private readonly tests: SelfTests;

  constructor(
    private readonly store: InventoryStore,
    private readonly incidents: IncidentService,
    private readonly gates: GateFactsService,
    private readonly identity: IdentityReads,
  ) {
    this.tests = new SelfTests(store.clock, TESTS);
  }

  /**
   * @throws MusterError SETTINGS_INVALID; FENCING_REFUSED naming the nodes that could not be fenced, or with how many are
   *   still `untested`, or that the settings were changed while the devices were tested; REVISION_CONFLICT: nothing is set
   *   then. Where it is set, and an incident could not be stopped: the code of that
   */
  async put(q: RpcRequest<'inventory.fencing.put'>): Promise<RpcAnswer<'inventory.fencing.put'>> {
    if (q.storm !== undefined) readStorm(q.storm, this.store.clusterSettings.fencing.storm);
    const { bucket } = this.store.settings;
    let testedAt: number | undefined;
    if (q.mode === 'enforce' && this.store.clusterSettings.fencing.mode !== 'enforce') {
      const now = await bucket.get(SETTINGS_KEY);
      refuseOtherRevision(now, q.revision);
      testedAt = now?.revision ?? 0;
      await this.refuseUntested(new Set(q.except ?? []), testedAt);
    }
    let changed: string[] = [];
    const set = await bucket.mutate(SETTINGS_KEY, (current) => {
      refuseOtherRevision(current, q.revision);
      // The tests take seconds: whoever has ordered observe, or a pause, since then has the last word.
      if (testedAt !== undefined && (current?.revision ?? 0) !== testedAt) throw changedMeanwhile();
      const was = completeSettings(current?.value ?? defaultSettings(this.store.cluster));
      const { paused: _ended, ...rest } = was.fencing;
      const fencing: FencingSettings = { ...rest, mode: q.mode };
      if (q.storm !== undefined) fencing.storm = readStorm(q.storm, was.fencing.storm);
      if (q.paused !== undefined) fencing.paused = { ...readPause(q.paused), by: q.by };
      changed = changedPaths({ fencing: was.fencing }, { fencing });
      return { ...was, fencing };
    });
    if (set.value === undefined) throw new MusterError('INTERNAL', 'the settings vanished');
    const { fencing } = set.value;
    const stops = fencing.paused !== undefined || fencing.mode === 'observe';
    if (stops && !set.changed && !(await this.renewed(set.value, set.revision))) return this.put(q);
    try {
      if (stops) await this.stopRunning(fencing, q.by);
    } finally {
      // After it: what is on its way to a command does not wait for the word about it.
      if (set.changed)
        await this.store.bus.emit('settings', SETTINGS_KEY, { changed }, { id: `settings.${set.revision}` });
    }
    const warnings = fencing.mode === 'enforce' ? this.warnings() : [];
    return warnings.length > 0 ? { ...fencing, warnings } : fencing;
  }

  /**
   * Writes the settings as they are, so that mode enforce, whose tests began before, is refused. False: somebody wrote
   * meanwhile.
   */
  private async renewed(settings: ClusterSettings, revision: number): Promise<boolean> {
    try {
      await this.store.settings.bucket.update(SETTINGS_KEY, settings, revision);
      return true;
    } catch (e) {
      if (MusterError.from(e).code === 'REVISION_CONFLICT') return false;
      throw e;
    }
  }

  private warnings(): string[] {
    const members = this.store.nodes.view.entries().filter((e) => isMember(e.value)).length;
    const witness = this.store.clusterSettings.witness ?? '';
    return weaknesses({ members, witness }).map((w) => `${w.text} ${w.remedy.text} (${w.remedy.command})`);
  }

  /** Every node that would be fenced must have power devices, and each must answer now. */
  private async refuseUntested(except: ReadonlySet<string>, revision: number): Promise<void> {
    const nodes = this.store.nodes.view
      .entries()
      .filter(({ value: n }) => isFencedByVerdict(n) && !except.has(n.name))
      .map(({ value: { name }, revision }) => ({ name, revision }));
    const { failed, untested, inTime } = await this.tests.run(nodes, (name) => this.selfTest(name));
    const names = Object.keys(failed).sort();
    if (names.length > 0)
      throw new MusterError(
        'FENCING_REFUSED',
        `These nodes have no power device that passes its test: ${names.map((n) => `${n} (${failed[n]})`).join(', ')}. Repair them, or name them in "except".`,
        { nodes: names },
      );
    if (!inTime || untested.length > 0) throw stillTesting(untested, revision);
  }

  private async selfTest(name: string): Promise<TestOutcome> {
    try {
      const node = this.store.nodes.view.get(name)?.value;
      if (!node?.powerLevels.some((level) => level.length > 0)) return { why: 'none' };
      const failed = await this.devicesFail(name);
      if (failed !== undefined) return { why: failed };
      // What cannot be read now keeps what was found before.
      await this.identity.read(name).catch(() => []);
      const now = await this.store.nodes.bucket.get(name);
      if (now === undefined) return { why: 'NODE_UNKNOWN' };
      const why = unfenceable({ node: now.value, otherFencers: 1, sharedPlace: this.gates.sharedPlace(now.value) });
      return why === undefined ? { revision: now.revision } : { why };
    } catch (e) {
      return { why: MusterError.from(e).code };
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
    const incidents = await this.store.incidents.bucket.list();
    await stopAll(
      incidents.map((e) => e.value),
      (i) => this.incidents.change(i.node, i.id, (now) => stopped(now, f, by, this.store.clock.wallMs())),
    );
  }
}

const changedMeanwhile = (): MusterError =>
  new MusterError(
    'FENCING_REFUSED',
    'The settings were changed meanwhile, while the power devices were tested, and nothing is set: see the mode and ask again.',
    { nodes: [] },
  );

/** @param revision of the settings: with it the next request does not undo what is ordered until then */
function stillTesting(untested: readonly string[], revision: number): MusterError {
  const named = [...untested].sort().slice(0, NAMED);
  const more = untested.length > NAMED ? ` and ${untested.length - NAMED} more` : '';
  const which = untested.length > 0 ? `of ${named.join(', ')}${more} ` : '';
  return new MusterError(
    'FENCING_REFUSED',
    `The tests of power devices ${which}have not ended in ${TESTS.withinMs / 1000} s, and nothing is set. They go on: ask again, which waits for those that are left.`,
    { nodes: [], untested: untested.length, revision },
  );
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
