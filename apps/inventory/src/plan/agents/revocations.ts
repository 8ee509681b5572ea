import type { AgentConnection } from '#bus';
import type { AgentRevocation, AgentUser, NodeRecord } from '#contracts';
import type { About } from '../../conductor/task.js';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import { aboutNode, eachRecord, type Decided } from '../each-record.js';
import type { Intent, NoteRevocation, RefuseUsers, TakeUser } from '../intent.js';
import { isShutOut, isUnkept, isWorthless } from './worthless-users.js';

/** Between two looks at what NATS holds, ms. */
const REPAIR_MS = 60_000;

/** Through a gap nobody knows which nodes there are. */
const isKnown = ({ nodes, knowsSettings, agentUsers }: Fleet): boolean =>
  nodes.live && knowsSettings && agentUsers.able();

/**
 * Has NATS refuse users that no record names any more. Never by an empty registry: that is one that was lost, and every
 * agent would have to be enrolled again.
 */
export const revocations: Concern = {
  // The records are thousands, and runs may follow each other at once.
  pace: { everyMs: 500, retry: { firstMs: REPAIR_MS } },
  isKnown,
  plan: (fleet): Intent[] => {
    const { made: doomed, failed } = worthlessIn(fleet);
    return [...failed, ...(doomed.length === 0 ? [] : [refusalOf(doomed)])];
  },
};

/** What NATS should know already, and may have lost with a disk or a clock; and revocations that a crash has left unkept. */
export const revocationRepair: Concern = {
  pace: { everyMs: REPAIR_MS },
  isKnown,
  plan: (fleet): Intent[] => [...toldAgain(fleet), ...keptOf(fleet)],
};

/**
 * Users that others than inventory have issued (`muster init`): they are noted while they are seen, or refused where they
 * are older than a revocation.
 */
export const connectedUsers: Concern = {
  pace: { everyMs: REPAIR_MS },
  isKnown,
  asks: () => ({ connectedAgents: true }),
  plan: (fleet): Intent[] => {
    const revoked = revocationsIn(fleet);
    return [...revoked.failed, ...unnotedIn(fleet).map((user) => taken(user, revoked.of.get(user.node)))];
  },
};

function worthlessIn(fleet: Fleet): Decided<AgentUser> {
  if (fleet.nodes.list.length === 0) return { made: [], failed: [] };
  return eachRecord(fleet.agentUsers.all(), aboutNodeOf, (user) =>
    user.revoked === undefined && isWorthlessIn(fleet, user) ? [user] : [],
  );
}

const aboutNodeOf = ({ node }: Pick<AgentUser, 'node'>): About => ({ node });

const refusalOf = (doomed: readonly AgentUser[]): RefuseUsers => ({
  do: 'refuse-users',
  about: {},
  reason: `No record names the users of ${nodesOf(doomed).join(', ')} any more.`,
  // The view may be behind a user that was issued a moment ago.
  reads: { nodes: nodesOf(doomed) },
  decide: ({ fleet }) => (isKnown(fleet) ? doomed.filter((user) => isWorthlessIn(fleet, user)) : []),
});

/** A record that nobody can read may name it. */
const isWorthlessIn = ({ nodes }: Fleet, { key, node }: Pick<AgentUser, 'key' | 'node'>): boolean =>
  !nodes.unreadable.has(node) && isWorthless(key, nodes.get(node)?.value);

const nodesOf = (users: readonly AgentUser[]): string[] => [...new Set(users.map((u) => u.node))];

function toldAgain(fleet: Fleet): RefuseUsers[] {
  const revoked = fleet.agentUsers.all().filter((user) => user.revoked !== undefined);
  if (revoked.length === 0) return [];
  return [{ do: 'refuse-users', about: {}, reason: 'NATS may have lost it.', decide: () => revoked }];
}

function unkeptIn(fleet: Fleet): Decided<AgentRevocation> {
  const known = fleet.agentUsers.revoked();
  return eachRecord(fleet.nodes.list, aboutNode, ({ key: node, value: { revoked } }) =>
    revoked !== undefined && isUnkept(revoked, known.get(node)) ? [{ node, ...revoked }] : [],
  );
}

const keptOf = (fleet: Fleet): Intent[] => {
  const { made, failed } = unkeptIn(fleet);
  return [...failed, ...made.map(kept)];
};

const kept = (revocation: AgentRevocation): NoteRevocation => ({
  do: 'note-revocation',
  about: { node: revocation.node },
  reason: 'It outlives the record of its node.',
  revocation,
});

function unnotedIn(fleet: Fleet): AgentConnection[] {
  const known = new Set(fleet.agentUsers.all().map((user) => user.key));
  return (fleet.answers.connectedAgents ?? []).filter((user) => !known.has(user.key));
}

const taken = (user: AgentConnection, revoked: AgentRevocation | undefined): TakeUser => ({
  do: 'take-user',
  about: { node: user.node },
  reason: 'It is connected, and nobody has noted it.',
  user,
  reads: { nodes: [user.node] },
  decide: ({ fleet }) => (isKnown(fleet) ? fateOf(user, revoked, fleet.nodes.get(user.node)?.value) : undefined),
  named: (now) =>
    now.enrolled && isWorthless(user.key, now)
      ? { ...now, agentKeys: [user.key, ...(now.agentKeys ?? [])] }
      : undefined,
});

function fateOf(
  user: AgentConnection,
  revoked: AgentRevocation | undefined,
  record: NodeRecord | undefined,
): ReturnType<TakeUser['decide']> {
  if (isShutOut(user, revoked, record)) return 'refused';
  // One that is not let in gets no user by showing up: it is noted, and swept.
  return record !== undefined && (record.enrolled || record.revoked !== undefined) ? 'noted' : undefined;
}

/** Node → its last revocation, of those that are kept and those of the records. */
function revocationsIn(fleet: Fleet): RevocationsNow {
  const { made, failed } = unkeptIn(fleet);
  return { of: new Map([...fleet.agentUsers.revoked(), ...made.map((r) => [r.node, r] as const)]), failed };
}

interface RevocationsNow extends Pick<Decided<unknown>, 'failed'> {
  readonly of: ReadonlyMap<string, AgentRevocation>;
}
