import { Injectable } from '@nestjs/common';
import type { AgentConnection, RevocationReach } from '#bus';
import { isOpenIncident, MusterError, NODE_NAME_PATTERN, RESERVATIONS_KEY, type RevocationOutcome } from '#contracts';
import { ServiceContext } from '#service';
import { NodeService, unknownNode } from '../nodes/node.service.js';
import { assignedNow } from '../store/assigned-now.js';
import { AfterAnswer } from '../store/after-answer.js';
import { InventoryStore } from '../store/inventory-store.js';
import { AgentUsers } from '../agent-users/agent-users.js';
import { NatsUsers } from '../agent-users/nats-users.js';
import type { RefusedUser } from '../plan/intent.js';
import { isWorthless } from '../plan/agents/worthless-users.js';
import { refusedRevocation, revokedNode } from './revocation.js';

/** Shuts agents out: in the registry first, so that Muster believes them nothing, and then at NATS. */
@Injectable()
export class RevocationService {
  constructor(
    private readonly context: ServiceContext,
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly users: AgentUsers,
    private readonly nats: NatsUsers,
    private readonly after: AfterAnswer,
  ) {}

  /**
   * Also for a node that is not on record: `muster init` has made users for agents that nobody has seen.
   * @throws MusterError unless forced NODE_UNKNOWN, NODE_RESERVED, NODE_BUSY, WORKLOADS_PRESENT
   */
  async revoke(name: string, o: { by: string; reason: string; force?: boolean }): Promise<RevocationOutcome> {
    if (!NODE_NAME_PATTERN.test(name)) throw unknownNode(name);
    if ((await this.store.nodes.bucket.get(name)) === undefined) return this.revokeUnregistered(name, o);
    let keys: string[] = [];
    await this.nodes.change(
      name,
      async (node) => {
        const refused = refusedRevocation(node, await this.factsOf(name), o.force === true);
        if (refused) throw refused;
        keys = node.agentKeys ?? keys;
        return revokedNode(node, o.by, o.reason, this.context.clock.wallMs());
      },
      `its agent was revoked: ${o.reason}`,
    );
    await this.users.noteRevocation({ node: name, by: o.by, at: this.context.clock.wallMs(), reason: o.reason });
    return this.shutOut(name, keys);
  }

  /**
   * Their records were deleted, and revocations are noted: NATS is told at once of the users that are known or connected,
   * and of others when they show themselves.
   */
  forgotten(nodes: readonly string[]): void {
    if (!this.nats.able || nodes.length === 0) return;
    this.after.run(`shutting out ${nodes.join(', ')}`, async () => {
      const connected = await this.nats.connected();
      const doomed = await Promise.all(nodes.map((node) => this.doomed(node, [], connected)));
      await this.refuse(doomed.flat());
    });
  }

  /** A name that nobody knows may be a mistyped one: whoever believes that it is shut out would not look again. */
  private async revokeUnregistered(
    node: string,
    o: { by: string; reason: string; force?: boolean },
  ): Promise<RevocationOutcome> {
    if (o.force !== true && !(await this.isKnownToNats(node)))
      throw new MusterError(
        'NODE_UNKNOWN',
        `no node is called ${node}, and no agent of that name is connected: where muster init has made a user for it, repeat it with force`,
        { node },
      );
    await this.users.noteRevocation({ node, by: o.by, at: this.context.clock.wallMs(), reason: o.reason });
    return { ...(await this.shutOut(node, [])), unregistered: true };
  }

  private async isKnownToNats(node: string): Promise<boolean> {
    if (this.users.all.some((user) => user.node === node) || this.users.revoked.has(node)) return true;
    return this.nats.able && (await this.nats.connected()).some((c) => c.node === node);
  }

  /** Those that issued users of its agent may have forgotten are seen by their connections. */
  private async shutOut(node: string, keys: readonly string[]): Promise<RevocationOutcome> {
    try {
      const doomed = await this.doomed(node, keys, await this.nats.connected());
      const { servers, told } = (await this.refuse(doomed)) ?? { servers: 0, told: 0 };
      const pending = `${servers - told} of ${servers} NATS servers do not answer: they refuse it within 5 s after their start`;
      return { node, users: doomed.length, ...(told < servers && { pending }) };
    } catch (e) {
      const error = MusterError.from(e);
      this.context.log.error({ err: error, node }, 'a revocation could not be published to NATS');
      return { node, users: 0, pending: error.message };
    }
  }

  /** Users of a node that are worth nothing any more. */
  private async doomed(
    node: string,
    keys: readonly string[],
    connected: readonly AgentConnection[],
  ): Promise<{ key: string; node: string }[]> {
    const seen = [...this.users.all, ...connected].filter((user) => user.node === node).map((user) => user.key);
    const record = (await this.store.nodes.bucket.get(node))?.value;
    return [...new Set([...keys, ...seen])].filter((key) => isWorthless(key, record)).map((key) => ({ key, node }));
  }

  /** NATS is told of all of them; those that are not noted as refused yet are then. */
  async refuse(users: readonly RefusedUser[]): Promise<RevocationReach | undefined> {
    if (users.length === 0) return undefined;
    const told = await this.nats.revoke(users.map((user) => user.key));
    for (const { key, node, revoked } of users) if (revoked === undefined) await this.users.noteRevoked(key, node);
    return told;
  }

  private async factsOf(name: string): Promise<Parameters<typeof refusedRevocation>[1]> {
    const incident = (await this.store.incidents.bucket.get(name))?.value;
    const { held = {} } = (await this.store.reservations.bucket.get(RESERVATIONS_KEY))?.value ?? {};
    return {
      hold: held[name],
      incident: incident && isOpenIncident(incident) ? incident : undefined,
      workloads: await assignedNow(this.store.workloads, name),
    };
  }
}
