import { Injectable } from '@nestjs/common';
import {
  MusterError,
  RESERVATIONS_KEY,
  checkMemberNames,
  unmasked,
  type EventMap,
  type NodeRecord,
  type RpcRequest,
  type WithRevision,
  type WorkloadRecord,
  RecoveryDrivers,
  type RecoveryRequest,
} from '#contracts';
import { workloadAfter, type WorkloadEvent, type WorkloadSettings } from '#domain/workload/changes.js';
import { startRefusal } from '#domain/workload/start-decision.js';
import { ReservationBook } from '../operations/reservation-book.js';
import { InventoryStore } from '../store/inventory-store.js';
import { GenerationFloor } from './generation-floor.js';
import { refusedForget } from './forgettable.js';
import { assignmentFacts, refusedAssignment } from './refused-assignment.js';
import { ReportsView } from '../reports/reports-view.js';

type Change = EventMap['workload']['change'];

/** The one way in which a workload's record changes: compare-and-set, then the event that tells it. */
@Injectable()
export class WorkloadService {
  constructor(
    private readonly store: InventoryStore,
    private readonly floor: GenerationFloor,
    private readonly book: ReservationBook,
    private readonly reports: ReportsView,
  ) {}

  /** A live read. @throws MusterError WORKLOAD_UNKNOWN */
  async get(name: string): Promise<WithRevision<WorkloadRecord>> {
    const entry = await this.store.workloads.bucket.get(name);
    if (entry === undefined) throw unknownWorkload(name);
    return { ...entry.value, revision: entry.revision };
  }

  /** As last seen by this process, by name. */
  list(): WithRevision<WorkloadRecord>[] {
    return this.store.workloads.view
      .entries()
      .map((e) => ({ ...e.value, revision: e.revision }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * `fn` gets the record as it is now and says what happens to it; undefined, or an event that cannot happen to it, leaves
   * it alone.
   * @param change told where the record changed; undefined: no news (a boot id was noted)
   * @returns the new record; undefined: gone, or left alone
   */
  async change(
    name: string,
    change: Change | undefined,
    fn: (w: WorkloadRecord) => WorkloadEvent | undefined,
  ): Promise<WorkloadRecord | undefined> {
    const done = await this.store.workloads.bucket.mutate(name, (current) => {
      const event = current && fn(current.value);
      return event && workloadAfter(current.value, event);
    });
    if (!done.changed || done.value === undefined) return undefined;
    if (change !== undefined) await this.publish(done.value, done.revision, change);
    return done.value;
  }

  async put(q: RpcRequest<'inventory.workloads.put'>): Promise<WithRevision<WorkloadRecord>> {
    const r = q.workload;
    if (r.recovery !== undefined) {
      refuseDriver(r.recovery.driver);
      checkMemberNames({ ...r.recovery.spec }, `workload ${q.name}: spec`);
    }
    if (r.node !== undefined) await this.refuseNode(r.node);
    /** As it was before the try that was written. */
    let was: WorkloadRecord | undefined;
    let tried: WorkloadRecord['assignment'];
    let isEarlier = false;
    const done = await this.store.workloads.bucket.mutate(q.name, async (current) => {
      const seen = current?.value;
      // A write whose answer was lost is tried again: what it finds may be its own, and somebody's who wrote after it.
      isEarlier = tried !== undefined && isSameAssignment(seen?.assignment, tried);
      if (!isEarlier) was = seen;
      const settings: WorkloadSettings = {
        name: q.name,
        desired: r.desired ?? seen?.desired ?? 'running',
        priority: r.priority ?? seen?.priority ?? 0,
        weight: r.weight ?? seen?.weight ?? 1,
        recovery: withStoredSecrets(r.recovery && stored(r.recovery), seen) ?? { driver: 'ansible', spec: {} },
      };
      const hostGroup = r.hostGroup ?? seen?.hostGroup;
      if (hostGroup !== undefined) settings.hostGroup = hostGroup;
      const before = seen ?? { ...settings, generation: await this.floor.read() };
      const next = workloadAfter(before, { kind: 'put', settings, ...(r.node !== undefined && { node: r.node }) });
      if (next === undefined) throw assignedByMuster(before);
      tried = next.assignment;
      return next;
    });
    const record = done.value;
    if (record === undefined) throw unknownWorkload(q.name);
    const isWritten = done.changed || isEarlier;
    // Of an earlier try the revision is not known: somebody has written since.
    const written = { ...record, revision: isEarlier ? 0 : done.revision };
    if (isWritten && record.assignment !== undefined && was?.assignment === undefined)
      await this.settle(written, record.assignment.node, was);
    if (isWritten && record.assignment !== undefined && (record.start ?? record.stop) !== undefined)
      await this.publish(record, done.revision, record.stop === undefined ? 'assigned' : 'stopping');
    return { ...record, revision: done.revision };
  }

  /** @throws MusterError as {@link refusedForget} */
  async delete(q: RpcRequest<'inventory.workloads.delete'>): Promise<Record<string, never>> {
    const { revision, ...record } = await this.get(q.name);
    const at = record.assignment?.node;
    const node = at === undefined ? undefined : (await this.store.nodes.bucket.get(at))?.value;
    const heard = at !== undefined && this.reports.of(at) !== undefined;
    const refused = refusedForget({ workload: record, node, heard, reason: q.reason });
    if (refused) throw refused;
    await this.floor.raise(record.generation);
    await this.store.workloads.bucket.delete(q.name, revision);
    return {};
  }

  /** A first assignment says "it runs there": on a node that is being fenced, or was, that would be undone at once. */
  private async refuseNode(name: string): Promise<void> {
    const hold = (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value.held[name];
    const record = (await this.store.nodes.bucket.get(name))?.value;
    const incident = (await this.store.incidents.bucket.get(name))?.value;
    const refused = startRefusal('put', { ...assignmentFacts(name, record, hold), incident });
    if (refused) throw refusedAssignment(name, refused, hold);
  }

  /**
   * A node that is to be deleted or cleaned up may have been looked at before the workload was written there. Whoever did
   * decides on the reservations: either that is seen here, or, as they have moved on by this write, it looks again.
   */
  private async settle(w: WithRevision<WorkloadRecord>, node: string, was: WorkloadRecord | undefined): Promise<void> {
    try {
      await this.book.change<NodeRecord | undefined, void>({
        read: async (_now, round) => (await round.read(node))?.value,
        decide: (now, record) => {
          const hold = now.held[node];
          const refused = startRefusal('put-again', assignmentFacts(node, record, hold));
          if (refused) throw refusedAssignment(node, refused, hold);
          return { next: { ...now, generation: now.generation + 1 }, answer: undefined };
        },
      });
    } catch (e) {
      await this.takeBack(w, node, was);
      throw e;
    }
  }

  /** As it was, but for the generation: its node may have been told of that, and it is never given twice. */
  private async takeBack(
    { revision, generation, name }: WithRevision<WorkloadRecord>,
    node: string,
    was: WorkloadRecord | undefined,
  ): Promise<void> {
    const { bucket } = this.store.workloads;
    if (was === undefined) await this.floor.raise(generation);
    for (;;) {
      const entry = await bucket.get(name);
      if (entry?.value.assignment?.generation !== generation) return;
      const back: WorkloadEvent =
        was === undefined || entry.revision !== revision
          ? { kind: 'cleared', from: node }
          : { kind: 'restored', was, generation };
      const next = workloadAfter(entry.value, back);
      if (next === undefined) return;
      try {
        if (was === undefined) await bucket.delete(name, entry.revision);
        else await bucket.update(name, next, entry.revision);
      } catch (e) {
        // Its node's report was noted in it, for one.
        if (MusterError.from(e).code !== 'REVISION_CONFLICT') throw e;
      }
    }
  }

  private publish(w: WorkloadRecord, revision: number, change: Change): Promise<void> {
    const data: EventMap['workload'] = { workload: w.name, generation: w.generation, change };
    if (w.assignment !== undefined) data.node = w.assignment.node;
    return this.store.bus.emit('workload', w.name, data, { id: `workload.${w.name}.${revision}` });
  }
}

const isSameAssignment = (a: WorkloadRecord['assignment'], b: WorkloadRecord['assignment']): boolean =>
  a?.node === b?.node && a?.generation === b?.generation;

/** As it is sent, with what was shown masked as it is stored. @throws MusterError BAD_REQUEST */
function withStoredSecrets(
  given: WorkloadRecord['recovery'] | undefined,
  was: WorkloadRecord | undefined,
): WorkloadRecord['recovery'] | undefined {
  if (given === undefined) return was?.recovery;
  return { ...given, spec: unmasked(given.spec, was?.recovery.spec ?? {}, 'spec', 'BAD_REQUEST') };
}

/** Recovery drivers that a provisioner carries out. A workload of another one would be owed its start for ever. */
const drivers: readonly string[] = RecoveryDrivers;

/** What was given, and nothing else: a class of requests names all its members. */
const stored = ({ driver, spec }: RecoveryRequest): WorkloadRecord['recovery'] => ({
  driver,
  spec: Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined)),
});

function refuseDriver(driver: string): void {
  if (!drivers.includes(driver))
    throw new MusterError(
      'DRIVER_UNKNOWN',
      `No provisioner carries out the recovery driver "${driver}": use ${drivers.join(' or ')}.`,
      { driver, available: drivers },
    );
}

const assignedByMuster = ({ name, assignment }: WorkloadRecord): MusterError =>
  new MusterError(
    'ILLEGAL_TRANSITION',
    `${name} is assigned to ${assignment?.node}: where it runs is now decided by Muster.`,
    { workload: name, node: assignment?.node },
  );

const unknownWorkload = (name: string): MusterError =>
  new MusterError('WORKLOAD_UNKNOWN', `there is no workload "${name}"`, { workload: name });
