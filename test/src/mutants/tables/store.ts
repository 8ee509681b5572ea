import type { Mutant } from '../mutant.js';

const health = ['libs/bus/src/store-health/store-health.spec.ts'];
const watch = ['libs/bus/src/store-health/store-watch.spec.ts'];
const revival = ['apps/standalone/src/revival-decision.spec.ts'];
const storage = ['libs/bus/src/streams/storage.spec.ts'];
const limits = ['libs/bus/src/init/store-limits.spec.ts'];
const putBack = ['apps/inventory/src/records/put-back.spec.ts'];
const superseded = ['libs/domain/src/restore/superseded.spec.ts'];

/** A store that cannot be written is named, and nothing makes it worse. */
export const store: readonly Mutant[] = [
  {
    name: 'a full disk is named only where NATS can be reached',
    file: 'libs/bus/src/store-health/store-health.ts',
    symbol: 'storeTrouble',
    operation: {
      replace: 'f.disk !== undefined && isFull(f.disk)',
      with: 'f.connected && f.disk !== undefined && isFull(f.disk)',
    },
    specs: health,
  },
  {
    name: 'a store that is silent is not told of',
    file: 'libs/bus/src/store-health/store-health.ts',
    symbol: 'storeTrouble',
    operation: { replace: 'f.silentForMs >= SILENT_AFTER_MS', with: 'false' },
    specs: health,
  },
  {
    name: 'streams that vanished are taken for an installation that has just begun',
    file: 'libs/bus/src/store-health/store-health.ts',
    symbol: 'storeTrouble',
    operation: { operand: 'f.wasWhole' },
    specs: health,
  },
  {
    name: 'a server is restarted on a disk without room, and loses its streams',
    file: 'apps/standalone/src/revival-decision.ts',
    symbol: 'decideRevival',
    operation: { drop: 'if (!hasRoom(disk)) return { state };' },
    specs: revival,
  },
  {
    name: 'a server whose disk was full is left as it is',
    file: 'apps/standalone/src/revival-decision.ts',
    symbol: 'decideRevival',
    operation: { replace: 'was.wasFull || isFull(disk)', with: 'false' },
    specs: revival,
  },
  {
    name: 'the limit of JetStream goes by what is free when it starts',
    file: 'libs/bus/src/init/nats-config.ts',
    symbol: 'natsConfig',
    operation: { row: '`  max_file_store: ${o.maxFileStore ?? maxFileStore()}`' },
    specs: limits,
  },
  {
    name: 'a watch that stood still calls the store silent',
    file: 'libs/bus/src/store-health/store-watch.ts',
    symbol: 'StoreWatch.look',
    operation: { replace: 'now - this.lookedAt >= STOOD_STILL_MS', with: 'now < 0' },
    specs: watch,
  },
  {
    name: 'a disk that hangs is asked once a second, until no thread is left',
    file: 'libs/bus/src/store-health/store-watch.ts',
    symbol: 'StoreWatch.look',
    operation: { drop: 'if (this.reading) return;' },
    specs: watch,
  },
  {
    name: 'a store that answers grows silent all the same',
    file: 'libs/bus/src/store-health/store-watch.ts',
    symbol: 'StoreWatch.answered',
    operation: { drop: 'this.silentSince = undefined' },
    specs: watch,
  },
  {
    name: 'a store is as silent as the time without a connection was long',
    file: 'libs/bus/src/store-health/store-watch.ts',
    symbol: 'StoreWatch.ask',
    operation: { replace: '!this.bus.connected', with: 'false' },
    specs: watch,
  },
  {
    name: 'a store that is silent is asked once a second, and drowned in questions',
    file: 'libs/bus/src/store-health/store-watch.ts',
    symbol: 'StoreWatch.ask',
    operation: {
      replace:
        "this.asking ??= this.bus.hasStream(name).then((there) => this.answered(name, there)).catch((e: unknown) => this.bus.log.debug({ err: e }, 'the store does not answer')).finally(() => (this.asking = undefined))",
      with: 'this.bus.hasStream(name).then((there) => this.answered(name, there))',
    },
    specs: watch,
  },
  {
    name: 'only the first stream is asked for',
    file: 'libs/bus/src/store-health/store-watch.ts',
    symbol: 'StoreWatch.answered',
    operation: { drop: 'this.next = (this.next + 1) % this.o.streams.length' },
    specs: watch,
  },
  {
    name: 'a store of which some streams are there was whole before',
    file: 'libs/bus/src/store-health/store-watch.ts',
    symbol: 'StoreWatch.answered',
    operation: { operand: 'this.next === 0' },
    specs: watch,
  },
  {
    name: 'a server that is silent is restarted every second',
    file: 'apps/standalone/src/revival-decision.ts',
    symbol: 'decideRevival',
    operation: { drop: 'if (!state.wasFull && !rested) return { state };' },
    specs: revival,
  },
  {
    name: 'a server is restarted while somebody is still making room',
    file: 'apps/standalone/src/revival-decision.ts',
    symbol: 'decideRevival',
    operation: { operand: 'now - state.roomSince < ROOM_FOR_MS' },
    specs: revival,
  },
  {
    name: 'a start ends at the first stream without a leader',
    file: 'libs/bus/src/streams/storage.ts',
    symbol: 'whenLed',
    operation: { replace: 'o.waitMs === 0', with: 'true' },
    specs: storage,
  },
  {
    name: 'a start waits for ever for a stream without a leader',
    file: 'libs/bus/src/streams/while-passing.ts',
    symbol: 'whilePassing',
    operation: { replace: 'left <= 0', with: 'false' },
    specs: storage,
  },
  {
    name: 'a reader is told what is old without a wait',
    file: 'apps/inventory/src/store/inventory-store.ts',
    symbol: 'InventoryStore.whenLive',
    operation: { replace: 't.view.shows(0, ms)', with: 'Promise.resolve(true)' },
    specs: ['apps/inventory/src/store/inventory-store.spec.ts'],
  },
  {
    name: 'a suspect node is shown in service while the records cannot be followed',
    file: 'apps/inventory/src/status/as-last-seen.ts',
    symbol: 'asLastSeen',
    operation: { operand: 'r.detail !== gap' },
    specs: ['apps/inventory/src/status/as-last-seen.spec.ts'],
  },
  {
    name: 'a proof of off outlives the moment that its store was put back to',
    file: 'libs/domain/src/restore/superseded.ts',
    symbol: 'supersededIncident',
    operation: { replace: '!isAfterOff(i)', with: 'true' },
    specs: superseded,
  },
  {
    name: 'an order to the power outlives the moment that its store was put back to',
    file: 'libs/domain/src/restore/superseded.ts',
    symbol: 'supersededIncident',
    operation: { replace: 'withoutOrder(note(i, text, at), `${why}.`)', with: 'note(i, text, at)' },
    specs: superseded,
  },
  {
    name: 'a job of a store that was put back is run again',
    file: 'libs/domain/src/restore/superseded.ts',
    symbol: 'supersededJob',
    operation: { replace: 'isEndedJob(job)', with: 'true' },
    specs: superseded,
  },
  {
    name: 'a pause without an end has ended',
    file: 'libs/contracts/src/settings/settings.ts',
    symbol: 'isPaused',
    operation: { operand: 'p.until === undefined' },
    specs: superseded,
  },
  {
    name: 'files that were put back by hand are taken for those of before',
    file: 'apps/inventory/src/records/put-back.ts',
    symbol: 'lostTails',
    operation: { replace: 'f.lastSeq < was.lastSeq', with: 'false' },
    specs: putBack,
  },
  {
    name: 'the tail that was lost with the power is taken for files that were put back',
    file: 'apps/inventory/src/records/put-back.ts',
    symbol: 'lowerRevision',
    operation: { replace: 'last.watchedMs - m.watchedMs >= LOST_TAIL_MS', with: 'true' },
    specs: putBack,
  },
  {
    name: 'a tail that was lost is found later, in a bucket that is quiet',
    file: 'apps/inventory/src/records/put-back.ts',
    symbol: 'without',
    operation: { replace: 'Math.min(was.lastSeq, ends)', with: 'was.lastSeq' },
    specs: putBack,
  },
  {
    name: 'a clock that is set forward makes a lost tail a store that was put back',
    file: 'apps/inventory/src/records/put-back.ts',
    symbol: 'lowerRevision',
    operation: { replace: 'last.watchedMs - m.watchedMs', with: 'last.at - m.at' },
    specs: putBack,
  },
  {
    name: 'a store that was loaded since is taken for one that was put back',
    file: 'apps/inventory/src/records/put-back.ts',
    symbol: 'lowerRevision',
    operation: { operand: 'store.generation > solid.generation' },
    specs: putBack,
  },
  {
    name: 'the store of before a load comes back unseen',
    file: 'apps/inventory/src/records/put-back.ts',
    symbol: 'lowerGeneration',
    operation: { replace: 's.generation > generation', with: 'false' },
    specs: putBack,
  },
  {
    name: 'a store that was never seen is taken for one that was put back',
    file: 'apps/inventory/src/records/put-back.ts',
    symbol: 'lowerGeneration',
    operation: { drop: 'if (first < 0) return undefined;' },
    specs: putBack,
  },
  {
    name: 'files that were put back are found, and fencing goes on',
    file: 'apps/inventory/src/records/store-memory.ts',
    symbol: 'StoreMemory.begin',
    operation: { replace: 'pausedFor(was.fencing, { why })', with: 'was.fencing' },
    specs: ['apps/inventory/src/records/store-memory.spec.ts'],
  },
  {
    name: 'what an inventory cannot write is told to nobody',
    file: 'apps/inventory/src/records/store-memory.ts',
    symbol: 'StoreMemory.unwatched',
    operation: { replace: 'this.unwritten === undefined', with: 'true' },
    specs: ['apps/inventory/src/records/store-memory.spec.ts'],
  },
];
