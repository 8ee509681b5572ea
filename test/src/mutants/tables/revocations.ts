import type { Mutant } from '../mutant.js';

const PLAN = 'apps/inventory/src/plan/agents/revocations.ts';
const WRITER = 'apps/inventory/src/execute/agent-writer.ts';
const specs = ['apps/inventory/src/plan/agents/revocations.spec.ts'];

/** Who was shut out stays so, and nobody else is. */
export const revocations: readonly Mutant[] = [
  {
    name: 'agents are shut out while nodes are not seen',
    file: PLAN,
    symbol: 'isKnown',
    operation: { operand: 'nodes.live' },
    specs,
  },
  {
    name: 'users are taken for unknown while settings are not seen',
    file: PLAN,
    symbol: 'isKnown',
    operation: { operand: 'knowsSettings' },
    specs,
  },
  {
    name: 'all agents are shut out when the registry is lost',
    file: PLAN,
    symbol: 'worthlessIn',
    operation: { replace: 'fleet.nodes.list.length === 0', with: 'fleet.nodes.list.length < 0' },
    specs,
  },
  {
    name: 'agents are shut out by records from before a gap',
    file: PLAN,
    symbol: 'refusalOf',
    operation: { replace: 'isKnown(fleet)', with: 'true' },
    specs,
  },
  {
    name: 'a user that was issued a moment ago is refused',
    file: PLAN,
    symbol: 'refusalOf',
    operation: { replace: 'doomed.filter((user) => isWorthlessIn(fleet, user))', with: 'doomed' },
    specs,
  },
  {
    name: 'NATS is not told again of what it has lost',
    file: PLAN,
    symbol: 'toldAgain',
    operation: { replace: '() => revoked', with: '() => []' },
    specs,
  },
  {
    name: 'a user that connects is taken by records from before a gap',
    file: PLAN,
    symbol: 'taken',
    operation: { replace: 'isKnown(fleet)', with: 'true' },
    specs,
  },
  {
    name: 'a user that connects is named by a node whose agent was shut out meanwhile',
    file: PLAN,
    symbol: 'taken',
    operation: { operand: 'now.enrolled' },
    specs,
  },
  {
    name: 'a user from before the revocation of its node is let in',
    file: PLAN,
    symbol: 'fateOf',
    operation: { drop: "if (isShutOut(user, revoked, record)) return 'refused'" },
    specs,
  },
  {
    name: 'a revocation that only the record of its node has shuts nobody out that connects',
    file: PLAN,
    symbol: 'revocationsIn',
    operation: {
      replace: 'made.map((r) => [r.node, r] as const)',
      with: 'made.slice(0, 0).map((r) => [r.node, r] as const)',
    },
    specs,
  },
  {
    name: 'a user that connects is noted before a record names it, and swept',
    file: WRITER,
    symbol: 'AgentWriter.takeUser',
    operation: [
      { drop: 'await this.users.note(user.key, user.node)' },
      {
        replace: 'if (fate === undefined) return NOTHING',
        with: "if (fate === undefined) return NOTHING;\n    if (fate === 'noted') await this.users.note(user.key, user.node)",
      },
    ],
    specs,
  },
  {
    name: 'a later revocation is overwritten by an earlier one',
    file: 'apps/inventory/src/agent-users/agent-users.ts',
    symbol: 'AgentUsers.noteRevocation',
    operation: { replace: 'current.value.at >= r.at', with: 'current.value.at < 0' },
    specs,
  },
  {
    name: 'users are noted as refused before NATS was told',
    file: 'apps/inventory/src/agents/revocation.service.ts',
    symbol: 'RevocationService.refuse',
    operation: {
      replace: 'if (users.length === 0) return undefined',
      with: 'if (users.length === 0) return undefined;\n    for (const { key, node } of users) await this.users.noteRevoked(key, node)',
    },
    specs,
  },
];
