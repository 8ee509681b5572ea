import { Injectable } from '@nestjs/common';
import type { AgentView, NodeRecord, Page, PageRequest } from '#contracts';
import { ReportsView, type HeardReport } from '../reports/reports-view.js';
import { InventoryStore } from '../store/inventory-store.js';
import { page } from '../store/page.js';

const MOST = 500;

/** What agents say of themselves, as this process last heard it. */
@Injectable()
export class AgentsView {
  constructor(
    private readonly store: InventoryStore,
    private readonly reports: ReportsView,
  ) {}

  page(q: PageRequest): Page<AgentView> {
    const { freshness } = this.store.clusterSettings.detection;
    const now = this.store.clock.monotonicMs();
    const names = this.store.nodes.view
      .entries()
      .map((e) => e.value)
      .filter((n: NodeRecord) => n.enrolled)
      .map((n) => n.name)
      .sort();
    const { items, next } = page(names, { ...q, limit: Math.min(q.limit ?? MOST, MOST) }, (name) => name);
    const views = items.map((name) => agentView(name, this.reports.of(name), now, freshness));
    return next === undefined ? { items: views } : { items: views, next };
  }
}

/** @param now monotonic ms of the process that heard the report */
export function agentView(node: string, heard: HeardReport | undefined, now: number, freshness: number): AgentView {
  if (heard === undefined) return { node, fresh: false };
  const { epoch, peers, health } = heard.report;
  const { metrics } = heard;
  const lost = metrics?.rejoin.lostNow ?? 0;
  return {
    node,
    fresh: now - heard.heardAt <= freshness,
    epoch,
    abstains: health.abstain,
    members: Math.max(0, peers.length - lost),
    lost,
    ...(metrics && { metrics }),
  };
}
