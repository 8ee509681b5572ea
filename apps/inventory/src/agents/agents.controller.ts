import { Controller } from '@nestjs/common';
import { AGENT_TOKEN_USES, type RpcAnswer, type RpcRequest } from '#contracts';
import { Rpc } from '#service';
import { AuditService, auditReason } from '../store/audit.service.js';
import { AgentTokensService } from './agent-tokens.service.js';
import { DatagramKeysService } from './datagram-keys.service.js';
import { enrolledName, type EnrolRequest } from './enrolment.js';
import { EnrolmentService } from './enrolment.service.js';
import { RevocationService } from './revocation.service.js';

@Controller()
export class AgentsController {
  constructor(
    private readonly enrolment: EnrolmentService,
    private readonly tokens: AgentTokensService,
    private readonly revocations: RevocationService,
    private readonly keys: DatagramKeysService,
    private readonly audit: AuditService,
  ) {}

  /** A provisioner's alone: no other service may call it. */
  @Rpc('inventory.agents.enrol')
  enrol(q: RpcRequest<'inventory.agents.enrol'>): Promise<RpcAnswer<'inventory.agents.enrol'>> {
    const { by, from: _nobody, ...request } = q;
    return this.audit.of(by, 'agent-enrol', enrolledName(request), placesOf(request), () =>
      this.enrolment.enrol(request),
    );
  }

  /** Who shows no token that is known leaves no trace: it could leave any number of them. */
  @Rpc('inventory.agents.admit')
  async admit({
    sha256,
    host,
    from,
  }: RpcRequest<'inventory.agents.admit'>): Promise<RpcAnswer<'inventory.agents.admit'>> {
    const token = await this.tokens.byHash(sha256);
    const who = { by: `agent-token ${token.id} of ${token.by}`, ...(from !== undefined && { from }) };
    return this.audit.of(who, 'agent-enrol', enrolledName(host), placesOf(host), () => this.tokens.admit(token, host));
  }

  @Rpc('inventory.agentTokens.list')
  listTokens(): RpcAnswer<'inventory.agentTokens.list'> {
    return { items: this.tokens.list() };
  }

  @Rpc('inventory.agentTokens.create')
  createToken(q: RpcRequest<'inventory.agentTokens.create'>): Promise<RpcAnswer<'inventory.agentTokens.create'>> {
    const uses = q.uses ?? AGENT_TOKEN_USES;
    const detail = `for ${q.ttl} s and ${uses} ${uses === 1 ? 'node' : 'nodes'}`;
    return this.audit.of(q, 'agent-token-create', 'agent-tokens', detail, () => this.tokens.create(q));
  }

  @Rpc('inventory.agentTokens.delete')
  async deleteToken(q: RpcRequest<'inventory.agentTokens.delete'>): Promise<RpcAnswer<'inventory.agentTokens.delete'>> {
    await this.audit.of(q, 'agent-token-delete', q.id, `agent token ${q.id}`, () => this.tokens.delete(q.id));
    return {};
  }

  /** A detector's alone: the gateway may not call it. */
  @Rpc('inventory.agents.keys')
  keysFor(q: RpcRequest<'inventory.agents.keys'>): Promise<RpcAnswer<'inventory.agents.keys'>> {
    return this.keys.answer(this.keys.current, q);
  }

  @Rpc('inventory.agentKeys.get')
  keyStatus(): RpcAnswer<'inventory.agentKeys.get'> {
    return this.keys.view();
  }

  @Rpc('inventory.agentKeys.rotate')
  rotateKeys(q: RpcRequest<'inventory.agentKeys.rotate'>): Promise<RpcAnswer<'inventory.agentKeys.rotate'>> {
    const what = q.dropAbsent === true ? 'without those that nobody hears' : 'a new key for the datagrams';
    const detail = q.reason === undefined ? what : `${what}: ${q.reason}`;
    return this.audit.of(q, 'agent-key-rotate', 'datagram-keys', detail, () => this.keys.rotate(q));
  }

  @Rpc('inventory.nodes.revoke')
  revoke(q: RpcRequest<'inventory.nodes.revoke'>): Promise<RpcAnswer<'inventory.nodes.revoke'>> {
    return this.audit.of(q, 'node-revoke', q.name, auditReason(q), () => this.revocations.revoke(q.name, q));
  }
}

const placesOf = (r: EnrolRequest): string => {
  const at = Object.entries(r.networks).map(([network, place]) => `${network} ${place?.address}`);
  return `${enrolledName(r)} at ${at.join(', ')}`;
};
