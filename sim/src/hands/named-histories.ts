import type { Named } from '../play.js';
import { quietHistory, type HandsEvent, type HandsHistory } from './hands-history.js';
import type { HandsBounds } from './hands-oracle.js';

export interface NamedHistory extends Named<HandsHistory> {
  /** What is promised beyond today's bounds. */
  bounds?: Partial<HandsBounds>;
}

/** Of the first; the others count on from it. */
export const NAMED_SEED = 7;

/** By the name under which `--sweep` and the specs find them. */
export const namedHistories: Record<string, NamedHistory> = {
  'death-off': {
    shows: 'a machine dies, is powered off and read back as off, and is powered on again',
    history: quietHistory('death-off', NAMED_SEED, {
      events: [{ kind: 'death', at: 8_000, node: 'n-1' }],
      quietFrom: 20_000,
    }),
  },
  'off-lost': {
    shows: 'a BMC does what it is told and never says so; what counts is what is read once it answers again',
    history: quietHistory('off-lost', NAMED_SEED + 1, {
      events: [
        { kind: 'bmc', at: 7_000, node: 'n-1', mood: 'mute' },
        { kind: 'death', at: 8_000, node: 'n-1' },
        { kind: 'bmc', at: 19_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 25_000,
    }),
  },
  'leader-lost': {
    shows: 'the leader stands still in the middle of a fencing, another finishes it, the first one wakes',
    history: quietHistory('leader-lost', NAMED_SEED + 2, {
      events: [
        { kind: 'bmc', at: 7_000, node: 'n-1', mood: 'slow' },
        { kind: 'death', at: 8_000, node: 'n-1' },
        { kind: 'pause', at: 12_500, process: 'the leader', forMs: 11_000 },
        { kind: 'pause', at: 25_000, process: 'the leader', forMs: 11_000 },
        { kind: 'bmc', at: 30_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 40_000,
    }),
  },
  'off-held-up': {
    shows: 'the leader stands still while its off opens a session; the guard ends it before another leads',
    history: quietHistory('off-held-up', NAMED_SEED + 9, {
      events: [
        { kind: 'death', at: 8_000, node: 'n-1' },
        {
          kind: 'after',
          at: 0,
          what: 'leave',
          node: 'n-1',
          inMs: 5,
          does: { kind: 'bmc', at: 0, node: 'n-1', mood: 'well', sessionMs: 5_850 },
        },
        {
          kind: 'after',
          at: 0,
          what: 'intent',
          node: 'n-1',
          inMs: 100,
          does: { kind: 'pause', at: 0, process: 'the leader', forMs: 12_000 },
        },
        { kind: 'bmc', at: 25_500, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 40_000,
    }),
  },
  'job-taken-over': {
    shows: 'a worker dies in the middle of a job, another takes it over, one stands still and wakes',
    history: quietHistory('job-taken-over', NAMED_SEED + 3, {
      events: [
        { kind: 'job', at: 6_000, job: 'maintenance', nodes: 1 },
        { kind: 'job', at: 6_100, job: 'commission', nodes: 2 },
        { kind: 'crash', at: 8_000, process: 'provisioner-1' },
        { kind: 'pause', at: 17_000, process: 'provisioner-2', forMs: 9_000 },
      ],
      quietFrom: 30_000,
    }),
  },
  'stale-leave': {
    shows:
      'a machine lives again right after inventory agreed to its power-off; the BMC is slow to be read, the conductor away',
    history: quietHistory('stale-leave', NAMED_SEED + 4, {
      events: [
        { kind: 'bmc', at: 7_000, node: 'n-1', mood: 'well', takesMs: 1_700 },
        { kind: 'death', at: 8_000, node: 'n-1' },
        { kind: 'after', at: 0, what: 'leave', node: 'n-1', inMs: 50, does: { kind: 'reboot', at: 0, node: 'n-1' } },
        { kind: 'no-conductor', at: 11_950, forMs: 8_000 },
        { kind: 'bmc', at: 25_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 30_000,
    }),
  },
  'intent-told-late': {
    shows: 'a machine lives again while its leader waits to be told that its intent was written',
    history: quietHistory('intent-told-late', NAMED_SEED + 11, {
      events: [
        { kind: 'death', at: 8_000, node: 'n-1' },
        { kind: 'no-conductor', at: 11_950, forMs: 8_000 },
        { kind: 'after', at: 0, what: 'leave', node: 'n-1', inMs: 30, does: { kind: 'reboot', at: 0, node: 'n-1' } },
        {
          kind: 'after',
          at: 0,
          what: 'intent',
          node: 'n-1',
          inMs: 0,
          does: { kind: 'cut', at: 0, process: 'the leader', forMs: 2_000, silentMs: 0 },
        },
      ],
      quietFrom: 30_000,
    }),
  },
  'off-after-pause': {
    shows: 'fencing is paused while a refused off waits to be repeated',
    history: quietHistory('off-after-pause', NAMED_SEED + 5, {
      events: [
        { kind: 'bmc', at: 7_000, node: 'n-1', mood: 'refusing' },
        { kind: 'death', at: 8_000, node: 'n-1' },
        {
          kind: 'after',
          at: 0,
          what: 'leave',
          node: 'n-1',
          inMs: 700,
          does: { kind: 'fencing-pause', at: 0, forMs: 15_000 },
        },
        { kind: 'bmc', at: 40_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 50_000,
    }),
  },
  'off-before-the-on-lands': {
    shows: 'a machine is ordered on, and off again before its BMC has done the first',
    history: quietHistory('off-before-the-on-lands', NAMED_SEED + 6, {
      events: [
        { kind: 'bmc', at: 6_000, node: 'n-1', mood: 'lagging' },
        { kind: 'unplugged', at: 7_000, node: 'n-1', forMs: 1_000_000 },
        { kind: 'order-on', at: 7_500, node: 'n-1' },
        { kind: 'order-off', at: 8_000, node: 'n-1' },
        { kind: 'bmc', at: 30_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 31_000,
    }),
  },
  'leader-cannot-fork': {
    shows: 'the leader cannot start a process, and a healthy fencer stands by',
    // With a crash on top, and the power quarantine anew before the power-on.
    bounds: { settledMs: 60_000 },
    history: quietHistory('leader-cannot-fork', NAMED_SEED + 7, {
      events: [
        { kind: 'no-fork', at: 6_000, process: 'the leader', forMs: 1_000_000 },
        { kind: 'death', at: 8_000, node: 'n-1' },
      ],
      quietFrom: 12_000,
    }),
  },
  'leader-without-driver': {
    shows: 'the leader has lost its driver, and a healthy fencer stands by',
    // With a crash on top, and the power quarantine anew before the power-on.
    bounds: { settledMs: 60_000 },
    history: quietHistory('leader-without-driver', NAMED_SEED + 8, {
      events: [
        { kind: 'no-drivers', at: 6_000, process: 'the leader', forMs: 1_000_000 },
        { kind: 'death', at: 8_000, node: 'n-1' },
      ],
      quietFrom: 12_000,
    }),
  },
  'nobody-can-fork': {
    shows: 'no fencer can start a process, until one can again while the incident waits to be tried again',
    bounds: { settledMs: 60_000 },
    history: quietHistory('nobody-can-fork', NAMED_SEED + 12, {
      events: [
        { kind: 'no-fork', at: 6_000, process: 'fencer-1', forMs: 94_000 },
        { kind: 'no-fork', at: 6_000, process: 'fencer-2', forMs: 1_000_000 },
        { kind: 'death', at: 8_000, node: 'n-1' },
      ],
      quietFrom: 102_000,
    }),
  },
  'leases-made-anew': {
    shows: 'the bucket of leases is deleted and made anew, and the fencers are killed',
    history: quietHistory('leases-made-anew', NAMED_SEED + 10, {
      events: [
        { kind: 'crash', at: 7_000, process: 'the leader' },
        { kind: 'death', at: 18_000, node: 'n-1' },
        { kind: 'bucket-anew', at: 30_000, bucket: 'leases' },
        { kind: 'crash', at: 30_001, process: 'fencer-1' },
        { kind: 'crash', at: 30_001, process: 'fencer-2' },
      ],
      quietFrom: 45_000,
    }),
  },
  'leases-anew-in-quiet': {
    shows: 'the bucket of leases is made anew while nothing goes on; a machine dies later',
    history: quietHistory('leases-anew-in-quiet', NAMED_SEED + 11, {
      events: [
        { kind: 'crash', at: 5_000, process: 'the leader' },
        { kind: 'bucket-anew', at: 18_000, bucket: 'leases' },
        { kind: 'death', at: 30_000, node: 'n-1' },
      ],
      quietFrom: 40_000,
    }),
  },
  'leases-anew-in-job': {
    shows: 'the bucket of leases is made anew while a job runs, just before others contend for its lease',
    history: quietHistory('leases-anew-in-job', NAMED_SEED + 17, {
      provisioners: ['provisioner-1', 'provisioner-2', 'provisioner-3'],
      events: [
        ...Array.from({ length: 6 }, (_, i) => ({
          kind: 'job' as const,
          at: 6_000 + i * 150,
          job: 'maintenance' as const,
          nodes: 1,
        })),
        { kind: 'bucket-anew', at: 8_100, bucket: 'leases' },
      ],
      quietFrom: 40_000,
    }),
  },
  'leases-anew-at-leave': {
    shows: 'the bucket of leases is made anew right after inventory agreed to a power-off, and every fencer is killed',
    history: leasesAnew('leases-anew-at-leave', NAMED_SEED + 12, 'leave'),
  },
  'leases-anew-at-intent': {
    shows: 'the bucket of leases is made anew while an off is under way, and every fencer is killed',
    history: leasesAnew('leases-anew-at-intent', NAMED_SEED + 13, 'intent'),
  },
  'leases-anew-when-fenced': {
    shows: 'the bucket of leases is made anew when the machine is to be powered on again; the leader lives on',
    history: quietHistory('leases-anew-when-fenced', NAMED_SEED + 14, {
      events: [
        { kind: 'crash', at: 5_000, process: 'the leader' },
        { kind: 'death', at: 16_000, node: 'n-1' },
        { kind: 'bucket-anew', at: 24_000, bucket: 'leases' },
      ],
      quietFrom: 40_000,
    }),
  },
  'tail-lost': {
    shows: 'the server restarts without the last writes of leases: what was not synced went with the power',
    history: quietHistory('tail-lost', NAMED_SEED + 15, {
      events: [
        { kind: 'crash', at: 5_000, process: 'the leader' },
        { kind: 'death', at: 16_000, node: 'n-1' },
        { kind: 'server-restart', at: 22_000, forMs: 2_000, lost: { KV_leases: 20 } },
      ],
      quietFrom: 40_000,
    }),
  },
  'incidents-tail-lost': {
    shows: 'the server restarts without the last writes of incidents, in the middle of a fencing',
    history: quietHistory('incidents-tail-lost', NAMED_SEED + 16, {
      events: [
        { kind: 'death', at: 8_000, node: 'n-1' },
        {
          kind: 'after',
          at: 0,
          what: 'intent',
          node: 'n-1',
          inMs: 150,
          does: { kind: 'server-restart', at: 0, forMs: 500, lost: { KV_incidents: 2 } },
        },
      ],
      quietFrom: 30_000,
    }),
  },
};

/** Deleted and made anew in the middle of a fencing; whoever knew the tokens is killed with it. */
function leasesAnew(name: string, seed: number, what: 'leave' | 'intent'): HandsHistory {
  const inMs = 20;
  const then = (does: HandsEvent, later = 0): HandsEvent => ({
    kind: 'after',
    at: 0,
    what,
    node: 'n-1',
    inMs: inMs + later,
    does,
  });
  return quietHistory(name, seed, {
    events: [
      { kind: 'crash', at: 5_000, process: 'the leader' },
      { kind: 'death', at: 16_000, node: 'n-1' },
      then({ kind: 'bucket-anew', at: 0, bucket: 'leases' }),
      then({ kind: 'crash', at: 0, process: 'fencer-1' }, 1),
      then({ kind: 'crash', at: 0, process: 'fencer-2' }, 1),
    ],
    quietFrom: 40_000,
  });
}
