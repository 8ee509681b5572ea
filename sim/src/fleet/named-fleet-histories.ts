import type { GateCode } from '#contracts';
import type { BmcMood } from '../hands/bmc.js';
import type { Named } from '../play.js';
import type { FleetEvent, FleetHistory, Order, StoredPhase } from './fleet-event.js';
import { limitsOf, quietFleet } from './fleet-history.js';

export type NamedFleet = Named<FleetHistory>;

/** Of the first; the others count on from it. */
export const FLEET_SEED = 11;

const DEATH_AT = 20_000;
const death: FleetEvent = { kind: 'death', at: DEATH_AT, node: 'n-1' };

const after = (phase: StoredPhase, inMs: number, does: FleetEvent): FleetEvent => ({
  kind: 'after',
  at: 0,
  phase,
  node: 'n-1',
  inMs,
  does,
});
const heldBy = (gate: GateCode, inMs: number, does: FleetEvent): FleetEvent => ({
  ...{ kind: 'after', at: 0, phase: 'suppressed', node: 'n-1' },
  ...{ gate, inMs, does },
});
const order = (what: Order, at = 0): FleetEvent => ({ kind: 'order', at, order: what });

/** Ordered off while it is well, and then this: without force, which is refused, and with it. */
const offThen = (what: 'confirm' | 'release'): FleetEvent[] => [
  order({ what: 'fence', node: 'n-1' }, 20_000),
  after('suppressed', 1_000, order({ what, node: 'n-1' })),
  after('suppressed', 2_000, order({ what, node: 'n-1', force: true })),
];

/** Its work moves first. */
const maintain = order({ what: 'submit', job: 'maintenance', node: 'n-1', force: true }, 20_000);

const killedAt = (phase: StoredPhase, seed: number): NamedFleet => ({
  shows: `the conductor is killed right when an incident is ${phase}`,
  history: quietFleet(`conductor-killed-${phase}`, seed, {
    events: [death, after(phase, 0, { kind: 'crash', at: 0, process: 'the conductor' })],
    quietFrom: 60_000,
  }),
});

/** The cables of two BMCs were swapped; each says whose it is. */
const swapped: Pick<FleetHistory, 'tellGuid' | 'wires'> = {
  tellGuid: ['n-1', 'n-2'],
  wires: { 'n-1': 'n-2', 'n-2': 'n-1' },
};

/** By the incident of the node that was cut off. */
const ofCut = (phase: StoredPhase, inMs: number, does: FleetEvent): FleetEvent => ({
  ...{ kind: 'after', at: 0, phase, node: 'n-2' },
  ...{ inMs, does },
});

/** The machine dies while the BMC of `node` is in this mood, from shortly before until then. */
const deathUnder = (node: string, mood: BmcMood, untilMs: number): FleetHistory['events'] => [
  { kind: 'bmc', at: 19_000, node, mood },
  death,
  { kind: 'bmc', at: untilMs, node, mood: 'well' },
];

/** By the name under which `--sweep` and the specs find them. */
export const namedFleets: Record<string, NamedFleet> = {
  death: {
    shows: 'a machine dies, is powered off, and its work runs elsewhere; it is powered on, checked and taken back',
    history: quietFleet('death', FLEET_SEED, { events: [death], quietFrom: 40_000 }),
  },
  'bmcs-swapped': {
    shows: 'the cables of two BMCs were swapped overnight; one of the machines dies, and nobody is powered off',
    history: quietFleet('bmcs-swapped', FLEET_SEED + 40, {
      ...swapped,
      events: [death],
      quietFrom: 40_000,
    }),
  },
  'bmcs-swapped-unread': {
    shows: 'the same while no fencer answers, until one is back: nobody is powered off by what was found yesterday',
    history: quietFleet('bmcs-swapped-unread', FLEET_SEED + 48, {
      ...swapped,
      events: [
        { kind: 'cut-off', at: 19_000, process: 'fencer-1', forMs: 9_000, silentMs: 2_000 },
        { kind: 'cut-off', at: 19_000, process: 'fencer-2', forMs: 11_000, silentMs: 2_000 },
        death,
      ],
      quietFrom: 50_000,
    }),
  },
  'bmcs-swapped-unreadable': {
    shows: 'the same while the BMC can be read by nobody: it is not used before it has said who it is',
    history: quietFleet('bmcs-swapped-unreadable', FLEET_SEED + 49, {
      ...swapped,
      events: deathUnder('n-2', 'unreadable', 35_000),
      quietFrom: 50_000,
    }),
  },
  'bmcs-swapped-nameless': {
    shows: 'the same while the BMC answers all but who it is, until after the fencing has failed',
    history: quietFleet('bmcs-swapped-nameless', FLEET_SEED + 50, {
      ...swapped,
      events: deathUnder('n-2', 'nameless', 48_000),
      quietFrom: 65_000,
    }),
  },
  'bmc-nameless': {
    shows: 'a machine dies whose own BMC does not say who it is: it is powered off as soon as it does',
    history: quietFleet('bmc-nameless', FLEET_SEED + 51, {
      tellGuid: ['n-1'],
      events: deathUnder('n-1', 'nameless', 30_000),
      quietFrom: 50_000,
    }),
  },
  'bmc-of-another': {
    shows: 'the device of a node reaches the BMC of another, which dies and is fenced; then the first is cut off',
    history: quietFleet('bmc-of-another', FLEET_SEED + 41, {
      tellGuid: ['n-1', 'n-2'],
      wires: { 'n-2': 'n-1' },
      events: [death, after('fenced', 0, { kind: 'cut', at: 0, nodes: ['n-2'], forMs: 20_000, everyMs: 0 })],
      quietFrom: 50_000,
    }),
  },
  'bmc-of-another-edited': {
    shows: 'a node that is cut off has the BMC of another, is given another address, and that leads to the same BMC',
    history: quietFleet('bmc-of-another-edited', FLEET_SEED + 55, {
      tellGuid: ['n-1', 'n-2'],
      wires: { 'n-2': 'n-1' },
      events: [
        { kind: 'cut', at: 10_000, nodes: ['n-2'], forMs: 20_000, everyMs: 0 },
        {
          ...{ kind: 'after', at: 0, phase: 'suppressed', node: 'n-2', inMs: 1_000 },
          does: { kind: 'order', at: 0, order: { what: 'edit', node: 'n-2' } },
        },
      ],
      quietFrom: 50_000,
    }),
  },
  'bmc-of-another-denies': {
    shows: 'the same; that BMC says so to the fencer in its first attempt, and in no other one who it is',
    history: quietFleet('bmc-of-another-denies', FLEET_SEED + 56, {
      tellGuid: ['n-1', 'n-2'],
      wires: { 'n-2': 'n-1' },
      events: [
        { kind: 'cut', at: 10_000, nodes: ['n-2'], forMs: 60_000, everyMs: 0 },
        ofCut('suppressed', 900, { kind: 'bmc', at: 0, node: 'n-1', mood: 'nameless' }),
        ofCut('suppressed', 1_000, { kind: 'order', at: 0, order: { what: 'edit', node: 'n-2' } }),
        ofCut('fencing', 0, { kind: 'bmc', at: 0, node: 'n-1', mood: 'well' }),
        ofCut('failed', 0, { kind: 'bmc', at: 0, node: 'n-1', mood: 'nameless' }),
      ],
      quietFrom: 90_000,
    }),
  },
  'doubt-after-a-takeover': {
    shows:
      'a machine that a person has confirmed as down speaks once, its conductor ends, and then there is room for its work: that is started nowhere',
    history: quietFleet('doubt-after-a-takeover', FLEET_SEED + 90, {
      workloads: { w1: 'n-1' },
      events: [
        ...['n-2', 'n-3'].map((node) => order({ what: 'submit', job: 'decommission', node }, 16_000)),
        order({ what: 'cordon', node: 'n-4' }, 17_000),
        { kind: 'bmc', at: 29_000, node: 'n-1', mood: 'dead' },
        { kind: 'cut', at: 30_000, nodes: ['n-1'], forMs: 60_000, everyMs: 0 },
        after('fencing', 2_000, order({ what: 'confirm', node: 'n-1' })),
        // For one report.
        after('recovering', 2_000, { kind: 'wake', at: 0, node: 'n-1' }),
        after('recovering', 3_000, { kind: 'cut', at: 0, nodes: ['n-1'], forMs: 60_000, everyMs: 0 }),
        after('recovering', 4_000, { kind: 'crash', at: 0, process: 'the conductor' }),
        after('recovering', 25_000, order({ what: 'uncordon', node: 'n-4' })),
        { kind: 'bmc', at: 89_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 95_000,
    }),
  },
  'death-and-return': {
    shows: 'a machine that is being fenced comes back by itself',
    history: quietFleet('death-and-return', FLEET_SEED + 1, {
      events: [
        { kind: 'bmc', at: 19_000, node: 'n-1', mood: 'slow' },
        death,
        after('fencing', 200, { kind: 'reset', at: 0, node: 'n-1' }),
        { kind: 'bmc', at: 40_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 60_000,
    }),
  },
  'hang-and-wake': {
    shows: 'a machine stands still with its work, is fenced by a slow device, and goes on before the off',
    history: quietFleet('hang-and-wake', FLEET_SEED + 2, {
      events: [
        { kind: 'bmc', at: 19_000, node: 'n-1', mood: 'slow' },
        { kind: 'cut', at: 20_000, nodes: ['n-1'], forMs: 9_000, everyMs: 0 },
        { kind: 'hang', at: 40_000, node: 'n-2', forMs: 16_000 },
        { kind: 'bmc', at: 50_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 70_000,
    }),
  },
  'wakes-in-a-fencing': {
    shows: 'a machine is heard again before its off, while its device takes long to be read and nobody conducts',
    history: quietFleet('wakes-in-a-fencing', FLEET_SEED + 15, {
      events: [
        { kind: 'bmc', at: 19_000, node: 'n-1', mood: 'well', takesMs: 3_000 },
        { kind: 'cut', at: 20_000, nodes: ['n-1'], forMs: 40_000, everyMs: 0 },
        after('fencing', 50, { kind: 'crash', at: 0, process: 'the conductor' }),
        after('fencing', 100, { kind: 'wake', at: 0, node: 'n-1' }),
        { kind: 'bmc', at: 40_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 60_000,
    }),
  },
  'storm-heals': {
    shows: 'three of eight are cut off together, and come back one after the other: nobody is powered off',
    history: quietFleet('storm-heals', FLEET_SEED + 3, {
      size: 8,
      events: [{ kind: 'cut', at: 20_000, nodes: ['n-1', 'n-2', 'n-3'], forMs: 20_000, everyMs: 8_000 }],
      quietFrom: 60_000,
    }),
  },
  'storm-as-a-monitor-begins': {
    shows: 'four of eight are cut off before a monitor begins, and three are still silent when it sees enough',
    history: quietFleet('storm-as-a-monitor-begins', FLEET_SEED + 56, {
      size: 8,
      events: [
        { kind: 'monitor-away', at: 20_000, forMs: 11_400 },
        { kind: 'cut', at: 27_000, nodes: ['n-1', 'n-2', 'n-3', 'n-4'], forMs: 6_800, everyMs: 2_600 },
      ],
      quietFrom: 60_000,
    }),
  },
  'storm-without-a-conductor': {
    shows: 'three are cut off, the conductor ends, and two are back when another one begins to decide',
    history: quietFleet('storm-without-a-conductor', FLEET_SEED + 62, {
      size: 8,
      events: [
        { kind: 'cut', at: 20_000, nodes: ['n-1', 'n-2', 'n-3'], forMs: 3_700, everyMs: 2_500 },
        { kind: 'crash', at: 20_200, process: 'the conductor' },
      ],
      quietFrom: 60_000,
    }),
  },
  'storm-with-a-cordoned-node': {
    shows: 'three are cut off of which one is cordoned: the other two are no more than may be silent at once',
    history: quietFleet('storm-with-a-cordoned-node', FLEET_SEED + 60, {
      size: 6,
      events: [
        order({ what: 'cordon', node: 'n-2' }, 17_000),
        { kind: 'cut', at: 20_000, nodes: ['n-1', 'n-2', 'n-3'], forMs: 9_000, everyMs: 250 },
      ],
      quietFrom: 60_000,
    }),
  },
  'blindness-ends-unheard': {
    shows:
      'three of six are cut off, a cordon brings the quorum back, and whoever decides has begun to listen after that: nobody is powered off',
    history: quietFleet('blindness-ends-unheard', FLEET_SEED + 73, {
      size: 6,
      events: [
        { kind: 'cut', at: 20_333, nodes: ['n-1', 'n-2', 'n-3'], forMs: 25_000, everyMs: 1_200 },
        // It does not hear of the suspicion that comes before the blindness.
        { kind: 'cut-off', at: 21_500, process: 'the conductor', forMs: 2_000, silentMs: 1_000 },
        order({ what: 'cordon', node: 'n-2' }, 35_000),
        { kind: 'crash', at: 34_500, process: 'inventory-2' },
        { kind: 'crash', at: 35_100, process: 'inventory-1' },
      ],
      quietFrom: 70_000,
    }),
  },
  'cut-after-a-storm': {
    shows:
      'all of a storm are back, who were silent only while the monitor saw too few; then one is cut off, and fenced',
    history: quietFleet('cut-after-a-storm', FLEET_SEED + 69, {
      events: [
        { kind: 'cut', at: 20_300, nodes: ['n-1', 'n-2', 'n-3'], forMs: 12_000, everyMs: 40 },
        { kind: 'cut', at: 45_000, nodes: ['n-2'], forMs: 10_000, everyMs: 0 },
      ],
      quietFrom: 60_000,
    }),
  },
  'storm-heals-unheard': {
    shows: 'three of four are cut off, and the conductor hears nobody as the monitor sees again: nobody is powered off',
    history: quietFleet('storm-heals-unheard', FLEET_SEED + 57, {
      events: [
        { kind: 'cut', at: 20_000, nodes: ['n-1', 'n-2', 'n-3'], forMs: 9_000, everyMs: 4_000 },
        // It does not hear of the suspicion that comes before the blindness, nor of its end.
        { kind: 'cut-off', at: 21_000, process: 'the conductor', forMs: 2_000, silentMs: 1_000 },
        { kind: 'cut-off', at: 29_500, process: 'the conductor', forMs: 4_700, silentMs: 2_000 },
      ],
      quietFrom: 60_000,
    }),
  },
  'storm-under-a-takeover': {
    shows: 'three of five are cut off, and a monitor that has just begun sees too few for longer than agents need',
    history: quietFleet('storm-under-a-takeover', FLEET_SEED + 58, {
      size: 5,
      events: [
        { kind: 'monitor-away', at: 20_000, forMs: 8_000 },
        { kind: 'cut', at: 21_000, nodes: ['n-1', 'n-2', 'n-3'], forMs: 17_000, everyMs: 6_000 },
      ],
      quietFrom: 70_000,
    }),
  },
  'paused-in-a-fencing': {
    shows: 'fencing is paused while a refused off waits to be repeated',
    history: quietFleet('paused-in-a-fencing', FLEET_SEED + 4, {
      events: [
        { kind: 'bmc', at: 19_000, node: 'n-1', mood: 'refusing' },
        death,
        after('fencing', 800, order({ what: 'pause', forMs: 15_000 })),
        { kind: 'bmc', at: 50_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 60_000,
    }),
  },
  'paused-before-it': {
    shows: 'a machine dies while fencing is paused: nothing is given until the pause is over',
    history: quietFleet('paused-before-it', FLEET_SEED + 5, {
      events: [order({ what: 'pause', forMs: 30_000 }, 18_000), death],
      quietFrom: 60_000,
    }),
  },
  confirmed: {
    shows: 'the device of a dead machine does not answer; a person confirms that it is down',
    history: quietFleet('confirmed', FLEET_SEED + 6, {
      events: [
        { kind: 'bmc', at: 19_000, node: 'n-1', mood: 'dead' },
        death,
        after('fencing', 4_000, order({ what: 'confirm', node: 'n-1' })),
      ],
      quietFrom: 50_000,
    }),
  },
  'released-with-force': {
    shows: 'a machine that is well is ordered off, held by its sign of life, and let go: by nobody but with force',
    history: quietFleet('released-with-force', FLEET_SEED + 80, {
      events: offThen('release'),
      quietFrom: 50_000,
    }),
  },
  'released-while-suspected': {
    shows: 'a machine is heard again that the monitor still suspects, and is let go with force: it is powered off',
    history: quietFleet('released-while-suspected', FLEET_SEED + 89, {
      events: [
        order({ what: 'pause', forMs: 18_000 }, 18_000),
        { kind: 'errs', at: 19_000, node: 'n-1', verdict: 'SUSPECT', forMs: 40_000 },
        { kind: 'cut', at: DEATH_AT, nodes: ['n-1'], forMs: 9_000, everyMs: 0 },
        // A pause holds it as well, and is over by then.
        heldBy('BLIND', 12_000, order({ what: 'release', node: 'n-1', force: true })),
        heldBy('LIFE_SIGN', 1_000, order({ what: 'release', node: 'n-1', force: true })),
      ],
      quietFrom: 60_000,
    }),
  },
  'confirmed-with-force': {
    shows: 'a machine that is heard is confirmed as down, by nobody but with force: its work runs twice by that word',
    history: quietFleet('confirmed-with-force', FLEET_SEED + 81, {
      events: offThen('confirm'),
      quietFrom: 60_000,
    }),
  },
  'storm-confirmed': {
    shows: 'three of eight die together, and a person confirms all of the storm as down',
    history: quietFleet('storm-confirmed', FLEET_SEED + 82, {
      size: 8,
      events: [
        ...['n-1', 'n-2', 'n-3'].map((node): FleetEvent => ({ kind: 'death', at: DEATH_AT, node })),
        order({ what: 'storm-confirm' }, 40_000),
      ],
      quietFrom: 60_000,
    }),
  },
  drilled: {
    shows: 'a drained machine is drilled: it is powered off, seen to be silent, and on again',
    history: quietFleet('drilled', FLEET_SEED + 83, {
      events: [
        order({ what: 'drain', node: 'n-1' }, 20_000),
        order({ what: 'drill', node: 'n-1' }, 32_000),
        order({ what: 'uncordon', node: 'n-1' }, 90_000),
      ],
      quietFrom: 100_000,
    }),
  },
  'shut-down': {
    shows: 'a drained machine is asked to shut down, does, and is switched on again',
    history: quietFleet('shut-down', FLEET_SEED + 84, {
      events: [
        order({ what: 'drain', node: 'n-1' }, 20_000),
        order({ what: 'power-soft', node: 'n-1' }, 32_000),
        order({ what: 'power-on', node: 'n-1' }, 50_000),
        order({ what: 'uncordon', node: 'n-1' }, 75_000),
      ],
      quietFrom: 80_000,
    }),
  },
  'by-a-tool': {
    shows: 'a tool orders a check and a fencing by NATS, and reads what was told',
    history: quietFleet('by-a-tool', FLEET_SEED + 85, {
      events: [
        order({ what: 'command', command: 'check', node: 'n-4' }, 20_000),
        death,
        order({ what: 'command', command: 'fence', node: 'n-1' }, 21_000),
        order({ what: 'command', command: 'events', node: 'n-1' }, 40_000),
      ],
      quietFrom: 50_000,
    }),
  },
  'job-cancelled': {
    shows: 'the job that recovers lost work is cancelled by its id',
    history: quietFleet('job-cancelled', FLEET_SEED + 86, {
      events: [death, after('recovering', 600, order({ what: 'cancel-job' }))],
      quietFrom: 60_000,
    }),
  },
  'server-on-the-dead': {
    shows: 'the server of the bus counts as being on the machine that dies: nobody is powered off, as the plan says',
    history: quietFleet('server-on-the-dead', FLEET_SEED + 87, {
      brokers: ['n-1'],
      events: [death],
      quietFrom: 40_000,
    }),
  },
  'servers-on-nodes': {
    shows: 'two of the three hosts of the bus are silent: nobody is powered off until one of them is back',
    history: quietFleet('servers-on-nodes', FLEET_SEED + 88, {
      size: 6,
      brokers: ['n-1', 'n-2', 'n-3'],
      events: [{ kind: 'cut', at: 19_000, nodes: ['n-2'], forMs: 20_000, everyMs: 0 }, death],
      quietFrom: 60_000,
    }),
  },
  'off-under-a-confirmation': {
    shows:
      'an off is under way as a person confirms that the machine is down, and it is on again: no other off follows',
    history: quietFleet('off-under-a-confirmation', FLEET_SEED + 61, {
      events: [
        death,
        // It has been read, and its off is on the way.
        after('fencing', 150, { kind: 'bmc', at: 0, node: 'n-1', mood: 'mute', takesMs: 4_000 }),
        after('fencing', 1_500, order({ what: 'confirm', node: 'n-1' })),
        after('fencing', 12_000, { kind: 'by-hand', at: 0, node: 'n-1', on: true }),
        { kind: 'bmc', at: 50_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 60_000,
    }),
  },
  'off-of-what-is-off': {
    shows: 'a machine has lost its power, and its device refuses to switch it off once more: that is no failure',
    history: quietFleet('off-of-what-is-off', FLEET_SEED + 43, {
      events: [
        { kind: 'bmc', at: 19_000, node: 'n-1', mood: 'picky', takesMs: 1_500 },
        death,
        // Between the read by which it is on, and its off.
        after('fencing', 1_900, { kind: 'unplugged', at: 0, node: 'n-1', forMs: 60_000 }),
        { kind: 'bmc', at: 85_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 90_000,
    }),
  },
  'on-that-takes-no-effect': {
    shows: 'a device takes the power-on of a fenced machine, and does nothing: nobody is told that it is on',
    history: quietFleet('on-that-takes-no-effect', FLEET_SEED + 44, {
      events: [
        death,
        after('fenced', 0, { kind: 'bmc', at: 0, node: 'n-1', mood: 'lying' }),
        { kind: 'bmc', at: 70_000, node: 'n-1', mood: 'well' },
      ],
      quietFrom: 75_000,
    }),
  },
  'old-death-told-again': {
    shows: 'the death of a machine that is back is told once more, as it was then, when its conductor has restarted',
    history: quietFleet('old-death-told-again', FLEET_SEED + 45, {
      events: [
        order({ what: 'pause', forMs: 30_000 }, 18_000),
        { kind: 'cut', at: DEATH_AT, nodes: ['n-1'], forMs: 15_000, everyMs: 0 },
        { kind: 'crash', at: 50_000, process: 'the conductor' },
        { kind: 'told-again', at: 51_000, node: 'n-1' },
        { kind: 'crash', at: 60_000, process: 'the conductor' },
        { kind: 'monitor-away', at: 62_000, forMs: 3_000 },
        { kind: 'told-again', at: 72_000, node: 'n-1' },
      ],
      quietFrom: 75_000,
    }),
  },
  'ordered-again': {
    shows:
      'work is drained from a machine and comes home, and a person runs the playbook of its first start there again',
    history: quietFleet('ordered-again', FLEET_SEED + 97, {
      events: [
        order({ what: 'drain', node: 'n-1' }, 20_000),
        order({ what: 'uncordon', node: 'n-1' }, 30_000),
        { kind: 'ordered-again', at: 32_000, node: 'n-1' },
        order({ what: 'drain', node: 'n-4' }, 35_000),
        order({ what: 'uncordon', node: 'n-4' }, 45_000),
        { kind: 'ordered-again', at: 50_000, node: 'n-1' },
      ],
      quietFrom: 51_000,
    }),
  },
  'device-edited-in-a-fencing': {
    shows: 'the device of a dead machine refuses, and a person corrects its address while it is fenced',
    history: quietFleet('device-edited-in-a-fencing', FLEET_SEED + 46, {
      tellGuid: ['n-1'],
      events: [
        { kind: 'bmc', at: 19_000, node: 'n-1', mood: 'refusing' },
        death,
        after('failed', 2_000, { kind: 'bmc', at: 0, node: 'n-1', mood: 'well' }),
        after('failed', 2_100, order({ what: 'edit', node: 'n-1' })),
      ],
      quietFrom: 90_000,
    }),
  },
  'paused-by-a-clock-set-back': {
    shows: 'a fencing has failed, and the clock of the conductor is set back into a pause: it is not tried again',
    history: quietFleet('paused-by-a-clock-set-back', FLEET_SEED + 60, {
      events: [
        order({ what: 'pause', forMs: 1_000 }, 15_000),
        ...deathUnder('n-1', 'refusing', 60_000),
        after('failed', 500, { kind: 'wall-jump', at: 0, process: 'the conductor', ms: -1_800_000 }),
      ],
      quietFrom: 65_000,
    }),
  },
  replaced: {
    shows: 'a machine that was proven off, and stays so, gives its place to another one, which has not come yet',
    history: quietFleet('replaced', FLEET_SEED + 47, {
      ungated: { w1: 0 },
      events: [death, after('recovered', 20_000, order({ what: 'replace', node: 'n-1' }))],
      quietFrom: 60_000,
    }),
  },
  'target-dies': {
    shows: 'the machine on which lost work is started dies before it runs there',
    history: quietFleet('target-dies', FLEET_SEED + 7, {
      events: [death, after('recovering', 100, { kind: 'death', at: 0, node: 'n-4' })],
      quietFrom: 60_000,
    }),
  },
  'cordoned-in-an-incident': {
    shows: 'a dead machine is cordoned before its power-off',
    history: quietFleet('cordoned-in-an-incident', FLEET_SEED + 8, {
      events: [death, order({ what: 'cordon', node: 'n-1' }, 22_500)],
      quietFrom: 40_000,
    }),
  },
  'deleted-in-a-fencing': {
    shows: 'a node is deleted while it is fenced',
    history: quietFleet('deleted-in-a-fencing', FLEET_SEED + 9, {
      events: [
        { kind: 'bmc', at: 19_000, node: 'n-4', mood: 'slow' },
        { kind: 'death', at: 20_000, node: 'n-4' },
        order({ what: 'delete', node: 'n-4' }, 24_500),
        order({ what: 'delete', node: 'n-4' }, 30_000),
        order({ what: 'delete', node: 'n-4' }, 55_000),
      ],
      quietFrom: 60_000,
    }),
  },
  'work-ends': {
    shows: 'work stops by itself on a machine that is well, and is started there again',
    history: quietFleet('work-ends', FLEET_SEED + 10, {
      events: [{ kind: 'ends', at: 20_000, workload: 'w1' }],
      quietFrom: 25_000,
    }),
  },
  'ends-on-a-full-disk': {
    shows: 'work ends by itself on a machine that carries out no order any more, and says that it does not run there',
    history: quietFleet('ends-on-a-full-disk', FLEET_SEED + 90, {
      events: [
        { kind: 'full', at: 19_000, node: 'n-1' },
        { kind: 'ends', at: 20_000, workload: 'w1' },
      ],
      quietFrom: 25_000,
    }),
  },
  'reset-with-work': {
    shows: 'a machine boots anew with work on it, and with another configuration',
    history: quietFleet('reset-with-work', FLEET_SEED + 11, {
      events: [
        { kind: 'drift', at: 15_000, node: 'n-1' },
        { kind: 'reset', at: 20_000, node: 'n-1' },
      ],
      quietFrom: 30_000,
    }),
  },
  drained: {
    shows: 'a machine is drained, and dies while its work is stopped there',
    history: quietFleet('drained', FLEET_SEED + 12, {
      events: [
        order({ what: 'drain', node: 'n-1' }, 20_000),
        { kind: 'death', at: 20_600, node: 'n-1' },
        order({ what: 'uncordon', node: 'n-1' }, 35_000),
      ],
      quietFrom: 60_000,
    }),
  },
  'maintained-with-force': {
    shows: 'a machine with work is maintained with force: its work moves first',
    history: quietFleet('maintained-with-force', FLEET_SEED + 13, {
      events: [maintain],
      quietFrom: 25_000,
    }),
  },
  'dies-before-maintenance': {
    shows: 'a machine dies while its work moves, before its maintenance with force has begun: it is what it was',
    history: quietFleet('dies-before-maintenance', FLEET_SEED + 52, {
      events: [maintain, { kind: 'death', at: 20_600, node: 'n-1' }],
      quietFrom: 60_000,
    }),
  },
  'dies-in-maintenance': {
    shows: 'a machine dies while its maintenance with force runs, which fails: it is Unallocated, and not fenced',
    history: quietFleet('dies-in-maintenance', FLEET_SEED + 53, {
      events: [maintain, { kind: 'death', at: 23_000, node: 'n-1' }],
      quietFrom: 60_000,
    }),
  },
  'maintained-while-it-runs-twice': {
    shows: 'a person confirmed a machine that lives: its maintenance with force is refused while its work runs twice',
    history: quietFleet('maintained-while-it-runs-twice', FLEET_SEED + 54, {
      events: [
        { kind: 'bmc', at: 19_000, node: 'n-1', mood: 'dead' },
        { kind: 'cut', at: DEATH_AT, nodes: ['n-1'], forMs: 15_000, everyMs: 0 },
        after('fencing', 1_500, order({ what: 'confirm', node: 'n-1' })),
        { kind: 'bmc', at: 34_000, node: 'n-1', mood: 'well' },
        order({ what: 'submit', job: 'maintenance', node: 'n-1', force: true }, 45_000),
      ],
      quietFrom: 50_000,
    }),
  },
  'blind-by-deaths': {
    shows: 'two die, and two more before the first two are heard again: too few are left, until those report',
    history: quietFleet('blind-by-deaths', FLEET_SEED + 16, {
      size: 6,
      storm: limitsOf(4),
      events: [
        death,
        { kind: 'death', at: DEATH_AT, node: 'n-2' },
        after('recovered', 2_000, { kind: 'death', at: 0, node: 'n-3' }),
        after('recovered', 2_000, { kind: 'death', at: 0, node: 'n-4' }),
        // Who was silent when the monitor saw again is of a storm.
        order({ what: 'storm-release' }, 50_000),
      ],
      quietFrom: 60_000,
    }),
  },
  ungated: {
    shows: 'a machine dies with work that no gate stands before: it stays off, since its boot would start that again',
    history: quietFleet('ungated', FLEET_SEED + 17, { ungated: { w1: 0 }, events: [death], quietFrom: 60_000 }),
  },
  'ungated-ends-before-the-death': {
    shows: 'the same with work that has ended shortly before: its unit is there, and the machine stays off',
    history: quietFleet('ungated-ends-before-the-death', FLEET_SEED + 90, {
      ungated: { w1: 0 },
      events: [{ kind: 'ends', at: 17_000, workload: 'w1' }, death],
      quietFrom: 60_000,
    }),
  },
  'ungated-starts-late': {
    shows:
      'a cordoned machine boots anew, and starts work without a gate by itself long after: nobody else does before',
    history: quietFleet('ungated-starts-late', FLEET_SEED + 91, {
      ungated: { w1: 40_000 },
      events: [order({ what: 'cordon', node: 'n-1' }, 15_000), { kind: 'reset', at: DEATH_AT, node: 'n-1' }],
      quietFrom: 80_000,
    }),
  },
  'ungated-drained': {
    shows: 'the same, and it is drained meanwhile: that stops the work there for good, and it runs elsewhere',
    history: quietFleet('ungated-drained', FLEET_SEED + 92, {
      ungated: { w1: 40_000 },
      events: [
        order({ what: 'cordon', node: 'n-1' }, 15_000),
        { kind: 'reset', at: DEATH_AT, node: 'n-1' },
        order({ what: 'drain', node: 'n-1' }, 45_000),
      ],
      quietFrom: 80_000,
    }),
  },
  'ungated-boots-under-a-hold': {
    shows:
      'a machine boots by itself while its proof of off is held, and starts work without a gate long after that counts: nobody else does',
    history: quietFleet('ungated-boots-under-a-hold', FLEET_SEED + 93, {
      ungated: { w1: 40_000 },
      events: [
        // The devices of both are not proven any more.
        ...['n-1', 'n-2'].map((node) => order({ what: 'edit', node }, 16_000)),
        death,
        after('fenced', 100, { kind: 'cut', at: 0, nodes: ['n-2'], forMs: 20_000, everyMs: 0 }),
        after('fenced', 1_000, { kind: 'by-hand', at: 0, node: 'n-1', on: true }),
      ],
      quietFrom: 100_000,
    }),
  },
  'ungated-boots-and-is-cut-off': {
    shows:
      'the same, and it is cut off as it starts that work, before the proof counts: it is powered off anew before anybody else does',
    history: quietFleet('ungated-boots-and-is-cut-off', FLEET_SEED + 94, {
      size: 6,
      ungated: { w1: 10_000 },
      events: [
        ...['n-1', 'n-2'].map((node) => order({ what: 'edit', node }, 16_000)),
        death,
        after('fenced', 100, { kind: 'cut', at: 0, nodes: ['n-2'], forMs: 20_000, everyMs: 0 }),
        after('fenced', 1_000, { kind: 'by-hand', at: 0, node: 'n-1', on: true }),
        after('fenced', 15_000, { kind: 'cut', at: 0, nodes: ['n-1'], forMs: 60_000, everyMs: 0 }),
      ],
      quietFrom: 130_000,
    }),
  },
  'tried-for-ever': {
    shows:
      'a machine is back, where the unit of its work is tried for ever; who has that work dies: it is started there anew',
    history: quietFleet('tried-for-ever', FLEET_SEED + 95, {
      workloads: { w1: 'n-1' },
      tireless: ['w1'],
      events: [death, after('closed', 30_000, { kind: 'death', at: 0, node: 'n-2' })],
      quietFrom: 90_000,
    }),
  },
  'tried-for-ever-elsewhere': {
    shows: 'the same where another machine is the better place: the record follows to the unit, and that is started',
    history: quietFleet('tried-for-ever-elsewhere', FLEET_SEED + 96, {
      workloads: { w1: 'n-1', w2: 'n-2' },
      tireless: ['w1'],
      events: [
        death,
        // Its work goes to the first, and the last is empty.
        after('closed', 20_000, order({ what: 'drain', node: 'n-2' })),
        after('closed', 35_000, { kind: 'death', at: 0, node: 'n-3' }),
      ],
      quietFrom: 100_000,
    }),
  },
  'no-room': {
    shows: 'a machine dies after the others were decommissioned: its work has no room, as an alarm and the plan say',
    history: quietFleet('no-room', FLEET_SEED + 63, {
      workloads: { w1: 'n-1' },
      events: [
        ...['n-2', 'n-3', 'n-4'].map((node) => order({ what: 'submit', job: 'decommission', node }, 16_000)),
        { ...death, at: 30_000 },
        // Otherwise it comes back, and is room.
        after('recovering', 1_000, order({ what: 'cordon', node: 'n-1' })),
      ],
      quietFrom: 50_000,
    }),
  },
  'dies-in-observe': {
    shows: 'a machine dies in mode observe, which stays: the plan says what enforcing it would do',
    history: quietFleet('dies-in-observe', FLEET_SEED + 61, {
      events: [order({ what: 'observe' }, 16_000), death],
      quietFrom: 40_000,
    }),
  },
  'tail-lost': {
    shows: 'the server restarts without the last writes, in the middle of a recovery',
    history: quietFleet('tail-lost', FLEET_SEED + 14, {
      events: [
        death,
        after('recovering', 20, {
          kind: 'server-restart',
          at: 0,
          forMs: 2_000,
          lost: { KV_leases: 5, KV_incidents: 2 },
        }),
      ],
      quietFrom: 60_000,
    }),
  },
  'leases-anew-unseen': {
    shows:
      'the bucket of leases is made anew while a contender is cut off, which finds the old revision of a new write',
    history: quietFleet('leases-anew-unseen', FLEET_SEED + 60, {
      events: [
        { kind: 'cut-off', at: 10_000, process: 'inventory-1', forMs: 13_500, silentMs: 600 },
        { kind: 'bucket-anew', at: 15_000, bucket: 'leases' },
      ],
      quietFrom: 45_000,
    }),
  },
  ...Object.fromEntries(
    (['investigating', 'fencing', 'fenced', 'recovering', 'recovered', 'closed'] as const).map((phase, i) => [
      `conductor-killed-${phase}`,
      killedAt(phase, FLEET_SEED + 21 + i),
    ]),
  ),
};
