import { Injectable } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { MonitorEventRequest, MusterError, NODE_NAME_PATTERN, type MonitorNode } from '#contracts';
import { ServiceContext } from '#service';
import { FleetEvents } from '../nodes/fleet-events.js';
import { NodeService } from '../nodes/node.service.js';
import { applyMonitorEvent, monitorNodeName, type MonitorChange } from './monitor-event.js';

/** Takes the word of external monitors. */
@Injectable()
export class MonitorService {
  constructor(
    private readonly context: ServiceContext,
    private readonly nodes: NodeService,
    private readonly fleet: FleetEvents,
  ) {}

  /**
   * Every node of the list is dealt with, or, where anything about the list is off, none.
   * @throws MusterError BAD_REQUEST
   */
  async event(name: unknown, list: unknown): Promise<{ nodes: string[] }> {
    const change = readName(name);
    const nodes = readNodes(list);
    for (const m of nodes) {
      let before: string | undefined;
      const done = await this.nodes.upsert(
        monitorNodeName(m),
        (n) => {
          before = n?.state;
          return applyMonitorEvent(n, change, m, this.context.clock.wallMs());
        },
        `an external monitor says ${change}`,
      );
      if (done.changed && done.node && done.node.state !== before) this.fleet.note(change, done.node.name);
    }
    return { nodes: nodes.map(monitorNodeName) };
  }
}

function readName(name: unknown): MonitorChange {
  const text = typeof name === 'string' ? name : '';
  const lower = text.toLowerCase();
  if (lower === 'discovered' || lower === 'disappeared') return lower;
  throw new MusterError('BAD_REQUEST', `Invalid or empty event name specified: "${text}"`);
}

function readNodes(list: unknown): MonitorNode[] {
  if (!Array.isArray(list) || list.length === 0)
    throw new MusterError('BAD_REQUEST', 'atleast one node should be specified');
  const request = plainToInstance(MonitorEventRequest, { nodes: list as unknown[] });
  const wrong = validateSync(request, { forbidUnknownValues: true });
  const bad = list.findIndex((n) => typeof n !== 'object' || n === null);
  if (wrong.length > 0 || bad >= 0)
    throw new MusterError(
      'BAD_REQUEST',
      'each node of an event needs label, serial (letters, digits, dot, dash, underscore) and addr',
    );
  const long = request.nodes.find((n) => !NODE_NAME_PATTERN.test(monitorNodeName(n)));
  if (long) throw new MusterError('BAD_REQUEST', `the name ${monitorNodeName(long)} is too long`);
  return request.nodes;
}
