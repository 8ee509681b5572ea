import { Injectable } from '@nestjs/common';
import { EditsService } from '../node-requests/edits.service.js';
import { NodeService } from '../nodes/node.service.js';
import type { ChangeNode, CompleteEdit, Moment, SweepEdit } from '../plan/intent.js';
import { AuditService } from '../store/audit.service.js';
import { isWritten, WRITTEN, type Right, type Written } from './written.js';

/** Writes nodes, one at a time or several by one edit. */
@Injectable()
export class NodeWriter {
  constructor(
    private readonly nodes: NodeService,
    private readonly edits: EditsService,
    private readonly audit: AuditService,
  ) {}

  /** @throws MusterError NODE_UNKNOWN it was deleted meanwhile */
  async change(i: ChangeNode, at: Moment, c: Right): Promise<Written> {
    const change = async (): Promise<boolean> => {
      const { changed } = await this.nodes.change(
        i.key,
        (now) => {
          c.check();
          return i.decide(now, at);
        },
        i.told,
      );
      return changed;
    };
    const { audit } = i;
    return isWritten(
      audit === undefined ? await change() : await this.audit.of(audit.by, audit.action, i.key, audit.detail, change),
    );
  }

  /** Without the lease as well as with it: of what was decided, each write is one that anybody may do. */
  async completeEdit(i: CompleteEdit): Promise<Written> {
    await this.edits.carryOut(i.key);
    return WRITTEN;
  }

  async sweepEdit(i: SweepEdit, c: Right): Promise<Written> {
    await this.edits.sweep(i.key, () => void c.check());
    return WRITTEN;
  }
}
