import { existsSync } from 'node:fs';
import { Injectable } from '@nestjs/common';
import {
  connectedAgents,
  readAgentsKey,
  readRevokerKey,
  revokeAgentUsers,
  type AgentConnection,
  type RevocationOptions,
  type RevocationReach,
} from '#bus';
import { MusterError } from '#contracts';
import { ServiceContext } from '#service';

/** Agents' users at NATS: who is connected, and who is to be refused. */
@Injectable()
export class NatsUsers {
  constructor(private readonly context: ServiceContext) {}

  /** There is a key with which NATS can be told. */
  get able(): boolean {
    const { revoker, agents } = this.context.config.keys;
    return revoker !== undefined && agents !== undefined && existsSync(revoker) && existsSync(agents);
  }

  /** @throws MusterError BUS_UNAVAILABLE, UNAUTHORIZED, COMMAND_FAILED; CONFIG_INVALID where there is no key */
  async connected(): Promise<AgentConnection[]> {
    const options = this.options();
    return connectedAgents(options, readAgentsKey(this.context.config.keys.agents ?? ''));
  }

  /** @throws MusterError the same */
  async revoke(keys: readonly string[]): Promise<RevocationReach> {
    return revokeAgentUsers(this.options(), keys);
  }

  private options(): RevocationOptions {
    const { revoker } = this.context.config.keys;
    if (!this.able || revoker === undefined)
      throw new MusterError(
        'CONFIG_INVALID',
        'NATS still lets its agent connect: inventory has no keys.revoker, which muster init writes (NATS is started anew after it)',
      );
    const ca = this.context.natsAuthority;
    return {
      key: readRevokerKey(revoker),
      servers: this.context.config.nats.servers,
      replicas: this.context.config.replicas,
      ...(ca !== undefined && { ca }),
    };
  }
}
