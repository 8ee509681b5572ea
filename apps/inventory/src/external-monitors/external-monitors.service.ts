import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { MusterError, NODE_NAME_PATTERN, Subjects, type MonitorNode, type MusterEvent } from '#contracts';
import { MonitorEventRequest } from '#contracts/rpc/requests.js';
import type { Closable } from '#bus';
import { FleetEvents } from '../node-state/fleet-events.js';
import { NodeService } from '../nodes/node.service.js';
import { inParallel } from '../store/in-parallel.js';
import { InventoryStore } from '../store/inventory-store.js';
import { applyMonitorEvent, monitorNodeName, type MonitorChange } from '../node-state/monitor-event.js';

/** Nodes in one event: it must fit into a message. */
const BATCH = 1000;
/** Who told is answered when its word is applied, or this long after it is stored, ms. */
const ANSWER_MS = 200;
/** Nodes of a word that is waited for. A longer one is not applied by then: who told it is answered when it is stored. */
const WAITED_FOR = 100;

/**
 * Takes the word of external monitors: stored first, and applied from there in the order in which it was stored,
 * whichever replica took it and however long it is.
 */
@Injectable()
export class ExternalMonitorsService implements OnApplicationBootstrap, OnApplicationShutdown {
  private consumer: Closable | undefined;
  /** Of those who wait for an answer here, by the event's id. */
  private readonly applied = new Map<string, () => void>();

  constructor(
    private readonly store: InventoryStore,
    private readonly nodes: NodeService,
    private readonly fleet: FleetEvents,
  ) {}

  onApplicationBootstrap(): void {
    const { bus } = this.store;
    this.consumer = bus.consume(
      'inventory-monitor',
      [Subjects.event('monitor-event', '*')],
      (_subject, event) => this.apply(event as MusterEvent<'monitor-event'>),
      { oneAtATime: true },
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.consumer?.close();
  }

  /**
   * Every node of the list is dealt with, or, where anything about the list is off, none.
   * @throws MusterError BAD_REQUEST; BUS_UNAVAILABLE, STORE_UNAVAILABLE: it may be applied all the same
   */
  async event(by: string, name: unknown, list: unknown): Promise<{ nodes: string[] }> {
    const change = readName(name);
    const nodes = readNodes(list);
    const { bus, clock, random } = this.store;
    const waiting: Promise<void>[] = [];
    const ids: string[] = [];
    try {
      for (let at = 0; at < nodes.length; at += BATCH) {
        const id = random.uuid();
        ids.push(id);
        waiting.push(new Promise((resolve) => this.applied.set(id, resolve)));
        await bus.emit('monitor-event', 'fleet', { by, change, nodes: nodes.slice(at, at + BATCH) }, { id });
      }
      if (nodes.length <= WAITED_FOR) {
        const stop = new AbortController();
        await Promise.race([Promise.all(waiting), clock.sleep(ANSWER_MS, { signal: stop.signal })]);
        stop.abort();
      }
    } finally {
      for (const id of ids) this.applied.delete(id);
    }
    return { nodes: nodes.map(monitorNodeName) };
  }

  private async apply({ id, data }: MusterEvent<'monitor-event'>): Promise<void> {
    // Of a node that is named twice the last word counts.
    const words = new Map(data.nodes.map((m) => [monitorNodeName(m), m]));
    await inParallel([...words], async ([name, m]) => {
      let before: string | undefined;
      const done = await this.nodes.upsert(
        name,
        (n) => {
          before = n?.state;
          return applyMonitorEvent(n, data.change, m, this.store.clock.wallMs());
        },
        `an external monitor says ${data.change}`,
      );
      if (done.changed && done.node && done.node.state !== before) this.fleet.note(data.change, name);
    });
    this.applied.get(id)?.();
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
