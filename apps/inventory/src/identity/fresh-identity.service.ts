import { Injectable } from '@nestjs/common';
import { MusterError, Subjects, type FreshIdentity, type NodeRecord } from '#contracts';
import { asksWho } from '#domain/power/whose-device.js';
import { ServiceContext } from '#service';
import { ConductorService } from '../conductor/conductor.service.js';
import { IdentityReads } from './identity-reads.js';

/** The conductor answers from memory, ms. A fencer waits for it, and asks the devices itself where it is told nothing. */
const ANSWER_MS = 200;

/** What power devices said of themselves a moment ago, for whoever is about to switch them: it need not ask them again. */
@Injectable()
export class FreshIdentityService {
  constructor(
    private readonly context: ServiceContext,
    private readonly conductor: ConductorService,
    private readonly reads: IdentityReads,
  ) {
    conductor.answer<{ node: string }, { identity?: FreshIdentity }>(Subjects.conductorIdentity(), ({ node }) => {
      const identity = reads.recent(node);
      return Promise.resolve({ ...(identity !== undefined && { identity }) });
    });
  }

  /** Of this process or the conductor, who has them read as the node falls silent. Undefined: nobody has, or it is old. */
  async of(node: NodeRecord): Promise<FreshIdentity | undefined> {
    if (!asksWho(node)) return undefined;
    const own = this.reads.recent(node.name);
    if (own !== undefined || this.conductor.held) return own;
    try {
      const request = { node: node.name };
      const answer = await this.context.bus.ask<{ identity?: FreshIdentity }>(Subjects.conductorIdentity(), request, {
        timeoutMs: ANSWER_MS,
      });
      return answer.identity;
    } catch (cause) {
      const { code, message } = MusterError.from(cause);
      this.context.log.debug({ node: node.name, code }, `the conductor does not say who its devices are: ${message}`);
      return undefined;
    }
  }
}
