import type { GateRequest } from '#contracts/wire/peers.js';
import { Subjects } from '#contracts/names/subjects.js';
import { reasonOf } from '../log/agent-log.js';
import type { AgentStatus } from './agent-status.js';
import { GATE_LIMIT, judgeGate } from './gate-question.js';
import type { SocketRequest } from './status-socket.js';

export interface LocalRequestParts {
  node: string;
  bootId: string;
  /** Asks the control plane. */
  ask: (subject: string, text: string, ms: number) => Promise<string>;
  status: () => AgentStatus;
  lookAtWorkloads: () => void;
}

/** What programs on this host ask the agent. */
export class LocalRequests {
  constructor(private readonly p: LocalRequestParts) {}

  async answer(request: SocketRequest): Promise<unknown> {
    switch (request.op) {
      case 'gate':
        return this.gate(request.workload, request.generation);
      case 'workloads-changed':
        this.p.lookAtWorkloads();
        return { ok: true };
      case 'status':
        return this.p.status();
      default:
        throw new Error('unknown op');
    }
  }

  private async gate(workload: string, generation: number | undefined): Promise<unknown> {
    if (typeof workload !== 'string') return { allowed: false, reason: 'no workload was named' };
    try {
      const request: GateRequest = {
        workload,
        bootId: this.p.bootId,
        ...(generation !== undefined && { generation }),
      };
      const text = JSON.stringify(request);
      return judgeGate(await this.p.ask(Subjects.gate(this.p.node), text, GATE_LIMIT), generation);
    } catch (e) {
      return { allowed: false, reason: `the control plane gave no answer (${reasonOf(e)})` };
    }
  }
}
