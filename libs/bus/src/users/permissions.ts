import {
  agentUser,
  Buckets,
  inboxPrefix,
  ReadyStream,
  ServiceNames,
  Streams,
  Subjects,
  toolUser,
  type BucketName,
  type ServiceName,
} from '#contracts';
import { bucketStream, subjectOf } from '../store-names/kv-keys.js';
import { OwnApi, StoreApi } from '../store-names/store-api.js';

/** Of a NATS user: what is not allowed is refused. */
export interface Permissions {
  publish: string[];
  /** Refused all the same, of what `publish` allows. */
  except?: string[];
  subscribe: string[];
  /** May answer, once, on the reply subject of a request that it received. */
  responses: boolean;
}

/**
 * Services with a NATS account of their own: what the server answers them, wherever they want it, goes no further than
 * what they may publish.
 */
export const ApartServices = ['detector', 'provisioner', 'fencer', 'gateway'] as const satisfies readonly ServiceName[];
export type ApartService = (typeof ApartServices)[number];

export const isApart = (kind: UserKind): kind is ApartService => (ApartServices as readonly UserKind[]).includes(kind);

/** `tools`: for programs of the operator that speak NATS; each may have a user of its own, see {@link toolPermissions}. */
export type UserKind = ServiceName | 'tools';
export const userKinds: readonly UserKind[] = [...ServiceNames, 'tools'];

interface Needs {
  reads?: readonly BucketName[];
  writes?: readonly BucketName[];
  /** Leases that it may hold; more cannot be said of those whose names are made: see `foreignLeases`. */
  leases?: readonly string[];
  /** Leases of others, which it may not write although it may write all that are made. */
  foreignLeases?: readonly string[];
  /** Reads the durable verdicts and events for itself. */
  followsEvents?: boolean;
  /** Shares a durable consumer of them. */
  consumesEvents?: boolean;
  readsLogs?: boolean;
  writesLogs?: boolean;
  emits?: boolean;
  publishes?: readonly string[];
  /** Published for all who listen, and stored nowhere. */
  tells?: readonly string[];
  /** Plain subjects; with `answers` it may reply. */
  listens?: readonly string[];
  answers?: boolean;
  /** Plain requests to it, beside its RPCs. */
  answersOn?: readonly string[];
  /**
   * Whom it answers also on a connection that was made after the question came: the server's own permission to answer
   * ends with the connection. Whoever may do that could also answer what that user asks others.
   */
  answersLate?: readonly UserKind[];
  /** Services whose RPCs it calls, all of them. */
  calls?: readonly ServiceName[];
  /** RPCs of inventory that it calls, and no others: it is nobody's administrator. */
  asks?: readonly string[];
  /** Has the server make the readings that services with an account of their own ask for. */
  readsForOthers?: boolean;
  /** Creates streams and buckets, and keeps verdicts from filling theirs. */
  creates?: boolean;
}

const commandsAndMonitors = [Subjects.command('*' as 'check'), Subjects.monitor('*' as 'discovered')];

/** Its answer lets a machine in: it goes to the provisioner that has found one, and to nobody else. */
const ENROL = 'agents.enrol';
/** Its answer proves datagrams: it goes to the detector. */
const KEYS = 'agents.keys';
/** What it says decides what counts as the death of a host: it comes from a detector, and from nobody else. */
const LIFE_SEEN = 'nodes.lifeSeen';

/** What each may do is what its work needs. */
const needs: Record<UserKind, Needs> = {
  detector: {
    reads: ['nodes', 'settings', 'leases'],
    leases: ['detector'],
    followsEvents: true,
    emits: true,
    publishes: [Subjects.verdict('*'), Subjects.poll('*'), Subjects.life('*')],
    tells: [Subjects.beacon()],
    listens: [Subjects.report('*')],
    answers: true,
    answersOn: [Subjects.currentVerdict()],
    asks: [KEYS, LIFE_SEEN],
  },
  inventory: {
    reads: Buckets,
    writes: Buckets,
    followsEvents: true,
    consumesEvents: true,
    readsLogs: true,
    writesLogs: true,
    emits: true,
    publishes: [Subjects.peersChanged('*'), Subjects.currentVerdict()],
    listens: [Subjects.report('*'), Subjects.peers('*'), Subjects.gate('*'), Subjects.beacon(), ...commandsAndMonitors],
    answers: true,
    answersOn: [Subjects.read('*' as ServiceName)],
    readsForOthers: true,
    answersLate: ['gateway', 'provisioner', 'detector', 'fencer'],
    calls: ['inventory', 'fencer', 'provisioner'],
    creates: true,
  },
  provisioner: {
    reads: ['nodes', 'settings', 'workloads', 'jobs', 'workers', 'leases'],
    writes: ['jobs', 'workers', 'leases'],
    foreignLeases: ['detector', 'fencer', 'conductor'],
    writesLogs: true,
    emits: true,
    answers: true,
    asks: ['workloads.mayStart', ENROL],
  },
  fencer: {
    reads: ['nodes', 'settings', 'incidents', 'workers', 'leases', 'secrets'],
    writes: ['incidents', 'workers'],
    leases: ['fencer'],
    emits: true,
    answers: true,
    calls: ['fencer'],
    asks: ['incidents.recheck'],
  },
  gateway: {
    reads: ['tokens', 'idempotency'],
    writes: ['idempotency'],
    followsEvents: true,
    readsLogs: true,
    emits: true,
    listens: [Subjects.beacon()],
    calls: ['inventory', 'fencer'],
  },
  // No $JS.API at all: the server does not check where the answer to a request goes, and would store it anywhere.
  tools: {
    publishes: commandsAndMonitors,
    // As they are published: what was missed is replayed by a command.
    listens: [Subjects.beacon(), Subjects.verdict('*'), Subjects.event('*', '*'), Subjects.log('*')],
  },
};

/** Of a program with a user of its own: a viewer reads, an operator orders. */
export type ToolRole = 'viewer' | 'operator';

export function toolPermissions(name: string, role: ToolRole): Permissions {
  return {
    publish: role === 'operator' ? commandsAndMonitors : [Subjects.command('events')],
    subscribe: [`${inboxPrefix(toolUser(name))}.>`, ...(needs.tools.listens ?? [])],
    responses: false,
  };
}

/** Streams that it reads. */
export const readableStreams = (kind: UserKind): string[] => {
  const n = needs[kind];
  return [
    ...(n.reads ?? []).map(bucketStream),
    ...(n.followsEvents ? [Streams.events.name] : []),
    ...(n.readsLogs ? [Streams.logs.name] : []),
  ];
};

/** What passes between a service with an account of its own and the others. */
export interface Exchange {
  /** Published for all who listen. */
  tells: readonly string[];
  /** Heard, of what others publish. */
  listens: readonly string[];
  /** Requests that it answers. */
  answers: readonly string[];
  /** Requests of its own, and what is stored for it. */
  asks: readonly string[];
}

export function exchangeOf(service: ApartService): Exchange {
  const { tells = [], listens = [], answers, answersOn = [] } = needs[service];
  return {
    tells,
    // Answers also come by the way of what others tell: see {@link WireMessage.askersReply}.
    listens: [...listens, Subjects.feed(service, '>'), `${inboxPrefix(service)}.>`],
    answers: [...(answers === true ? [Subjects.rpc(service, '>')] : []), ...answersOn],
    asks: userPermissions(service, true).publish.filter((subject) => !tells.includes(subject)),
  };
}

/** @param apart it has an account of its own, where it is an {@link ApartServices} */
export function userPermissions(kind: UserKind, apart: boolean): Permissions {
  const n = needs[kind];
  const streams = readableStreams(kind);
  const own = apart && isApart(kind) ? kind : undefined;
  const except = [
    ...(n.calls?.includes('inventory') ? [ENROL, KEYS, LIFE_SEEN].map((verb) => Subjects.rpc('inventory', verb)) : []),
    ...(n.foreignLeases ?? []).map((name) => subjectOf('leases', name)),
  ];
  return {
    publish: [
      ...(streams.length > 0 ? [`${own ? OwnApi : StoreApi}.STREAM.INFO.${ReadyStream.name}`] : []),
      ...streams.flatMap(own ? readApart : readStream),
      ...(own ? [Subjects.read(own)] : []),
      ...(n.readsForOthers ? streams.map((stream) => `${StoreApi}.CONSUMER.CREATE.${stream}.*`) : []),
      ...(n.writes ?? []).map((bucket) => `$KV.${bucket}.>`),
      ...(n.leases ?? []).map((name) => subjectOf('leases', name)),
      ...(n.consumesEvents ? consumeStream(Streams.events.name) : []),
      ...(n.creates ? createStreams() : []),
      ...(n.emits ? [`${Subjects.event('*', '*')}`] : []),
      ...(n.writesLogs ? [Subjects.log('*')] : []),
      ...(n.publishes ?? []),
      ...(n.tells ?? []),
      ...(n.calls ?? []).map((service) => Subjects.rpc(service, '>')),
      ...(n.answersLate ?? []).map((user) => `${inboxPrefix(user)}.>`),
      // Of a question from another account.
      ...(n.answersLate ? ['_R_.>'] : []),
      ...(n.asks ?? []).map((verb) => Subjects.rpc('inventory', verb)),
    ],
    ...(except.length > 0 && { except }),
    subscribe: [
      `${inboxPrefix(kind)}.>`,
      ...(n.answers && kind !== 'tools' ? [Subjects.rpc(kind, '>')] : []),
      ...(own ? [Subjects.feed(own, '>')] : []),
      ...(n.listens ?? []),
      ...(n.answersOn ?? []),
    ],
    responses: n.answers === true,
  };
}

/**
 * An agent says what it sees, asks for its own peers and for its own gate, hears that its peers have changed, and
 * answers a detector that asks it to look at somebody.
 * Nothing else: it runs on the machine that may be broken, or broken into.
 */
export function agentPermissions(node: string): Permissions {
  return {
    publish: [Subjects.report(node), Subjects.peers(node), Subjects.gate(node)],
    subscribe: [
      `${inboxPrefix(agentUser(node))}.>`,
      Subjects.peersChanged(node),
      Subjects.poll(node),
      Subjects.life(node),
    ],
    responses: true,
  };
}

const readStream = (stream: string): string[] => [
  `${StoreApi}.STREAM.INFO.${stream}`,
  `${StoreApi}.STREAM.MSG.GET.${stream}`,
  `${StoreApi}.CONSUMER.CREATE.${stream}`,
  `$JS.FC.${stream}.>`,
];

/** Makes no consumer: a consumer sends to any subject of the account that holds the streams. */
const readApart = (stream: string): string[] => [
  `${OwnApi}.STREAM.INFO.${stream}`,
  `${OwnApi}.STREAM.MSG.GET.${stream}`,
  `$JS.FC.${stream}.>`,
];

const consumeStream = (stream: string): string[] => [
  `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.ACK.${stream}.>`,
  // With a JetStream domain two more tokens stand before the stream.
  `$JS.ACK.*.*.${stream}.>`,
];

const createStreams = (): string[] => [
  ...[Streams.events.name, Streams.logs.name, ...Buckets.map(bucketStream), ReadyStream.name].flatMap((stream) => [
    `$JS.API.STREAM.CREATE.${stream}`,
    `$JS.API.STREAM.INFO.${stream}`,
  ]),
  `$JS.API.STREAM.PURGE.${Streams.events.name}`,
  // The write that must be refused, which shows that a stream is whole.
  ...[...Object.values(Streams), ReadyStream].flatMap((s) => s.subjects.map((subject) => subject.replace('>', '='))),
];
