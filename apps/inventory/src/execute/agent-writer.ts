import { Injectable } from '@nestjs/common';
import { AgentUsers } from '../agent-users/agent-users.js';
import { DatagramKeysService } from '../agents/datagram-keys.service.js';
import { RevocationService } from '../agents/revocation.service.js';
import { NodeService } from '../nodes/node.service.js';
import type { ChangeKeySet, Moment, NoteRevocation, RefuseUsers, TakeUser } from '../plan/intent.js';
import { isWritten, NOTHING, WRITTEN, type Right, type Written } from './written.js';

/** Writes what agents are let in by: the keys of their datagrams, and their users at NATS. */
@Injectable()
export class AgentWriter {
  constructor(
    private readonly keys: DatagramKeysService,
    private readonly nodes: NodeService,
    private readonly users: AgentUsers,
    private readonly revocations: RevocationService,
  ) {}

  async changeKeySet(i: ChangeKeySet, at: Moment, c: Right): Promise<Written> {
    const check = (): void => void c.check();
    return isWritten(await this.keys.change((now) => i.decide(now, at), { destroys: i.destroys, check }));
  }

  async refuseUsers(i: RefuseUsers, at: Moment): Promise<Written> {
    return isWritten((await this.revocations.refuse(i.decide(at))) !== undefined);
  }

  async noteRevocation({ revocation }: NoteRevocation): Promise<Written> {
    return isWritten(await this.users.noteRevocation(revocation));
  }

  /** @throws MusterError NODE_UNKNOWN the node of one that was to be noted was deleted meanwhile */
  async takeUser(i: TakeUser, at: Moment, c: Right): Promise<Written> {
    const { user } = i;
    const fate = i.decide(at);
    if (fate === undefined) return NOTHING;
    if (fate === 'refused') {
      await this.revocations.refuse([user]);
      return WRITTEN;
    }
    await this.nodes.change(user.node, (now) => {
      c.check();
      return i.named(now);
    });
    await this.users.note(user.key, user.node);
    return WRITTEN;
  }
}
