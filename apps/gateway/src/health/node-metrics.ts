import { Gauge, type Registry } from 'prom-client';
import { isOpenIncident, type StatusView } from '#contracts';

/** Nodes that have a series of one kind at most: a fleet that is down as a whole must not flood whoever scrapes. */
export const MOST_NODES = 1_000;

/**
 * Nodes with which something is the matter, each by its name; one that is well has no series here. Beyond MOST_NODES
 * they are counted, and not named.
 */
export class NodeMetrics {
  private readonly out: Gauge;
  private readonly troubled: Gauge;
  private readonly incident: Gauge;
  private readonly accepted: Gauge;
  private readonly leftOut: Gauge;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string, ...labelNames: string[]): Gauge =>
      new Gauge({ name, help, labelNames, registers: [registry] });
    this.out = gauge('muster_node_out_of_service', '1 for a node that is out of service', 'node');
    this.troubled = gauge(
      'muster_node_troubled',
      '1 for a node by the verdict on it, where that is not UP',
      'node',
      'verdict',
    );
    this.incident = gauge(
      'muster_node_incident_open',
      '1 for a node by the phase of its open incident',
      'node',
      'phase',
    );
    this.accepted = gauge('muster_node_drift_accepted', '1 for a node with a drift that an operator wants', 'node');
    this.leftOut = gauge('muster_node_series_left_out', 'Nodes that are not named since there were too many', 'series');
  }

  reset(): void {
    for (const metric of [this.out, this.troubled, this.incident, this.accepted, this.leftOut]) metric.reset();
  }

  see({ nodes, incidents }: Pick<StatusView, 'nodes' | 'incidents'>): void {
    this.reset();
    this.name('out_of_service', nodes.out, ({ node }) => this.out.set({ node }, 1));
    this.name('troubled', nodes.troubled, ({ node, verdict }) => this.troubled.set({ node, verdict }, 1));
    this.name('incident_open', incidents.filter(isOpenIncident), ({ node, phase }) =>
      this.incident.set({ node, phase }, 1),
    );
    this.name('drift_accepted', nodes.accepted ?? [], ({ node }) => this.accepted.set({ node }, 1));
  }

  private name<T>(series: string, items: readonly T[], set: (item: T) => void): void {
    for (const item of items.slice(0, MOST_NODES)) set(item);
    this.leftOut.set({ series }, Math.max(0, items.length - MOST_NODES));
  }
}
