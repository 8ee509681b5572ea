import { Injectable } from '@nestjs/common';
import {
  alarmKey,
  isOpenIncident,
  NODE_NAME_PATTERN,
  type AlarmCode,
  type NodeRecord,
  type Reservations,
} from '#contracts';
import { refusedRemoval } from '#domain/removal/removal.js';
import { isActive } from '../alarms/active.js';
import { assignedNow } from '../store/assigned-now.js';
import { ReportsView } from '../reports/reports-view.js';
import { PowerQuarantine } from '../power/power-quarantine.js';
import { InventoryStore } from '../store/inventory-store.js';
import { checkRevision } from '../nodes/node-rules.js';
import { unknownNode } from '../nodes/node.service.js';

/** Those that say something of whether a node is off. */
const ALARMS = ['conflict-power', 'boot-timeout'] as const;

/** Nodes that may be forgotten, or give their place to new hardware, by what is stored now. */
@Injectable()
export class RemovableNodes {
  constructor(
    private readonly store: InventoryStore,
    private readonly reports: ReportsView,
    private readonly power: PowerQuarantine,
  ) {}

  /**
   * @param held of the reservations that were read before, so that what is begun with it meanwhile is not missed
   * @param revision that the asker has seen
   * @throws MusterError NODE_UNKNOWN, REVISION_CONFLICT, and as {@link refusedRemoval}
   */
  async get(name: string, held: Reservations['held'], revision: number | undefined): Promise<NodeRecord> {
    const entry = NODE_NAME_PATTERN.test(name) ? await this.store.nodes.bucket.get(name) : undefined;
    if (!entry) throw unknownNode(name);
    checkRevision(name, entry.revision, revision);
    const incident = (await this.store.incidents.bucket.get(name))?.value;
    const refused = refusedRemoval(entry.value, {
      hold: held[name],
      incident: incident && isOpenIncident(incident) ? incident : undefined,
      quarantined: incident && this.power.reasonOf(incident),
      unheardMs: this.reports.unheardMs(name),
      reportPeriod: this.store.clusterSettings.detection.reportPeriod,
      alarms: await this.alarmsOf(name),
      workloads: await assignedNow(this.store.workloads, name),
    });
    if (refused) throw refused;
    return entry.value;
  }

  private async alarmsOf(node: string): Promise<AlarmCode[]> {
    const alarms = await Promise.all(ALARMS.map((code) => this.store.alarms.bucket.get(alarmKey(code, node))));
    return alarms.flatMap((a) => (a && isActive(a.value) ? [a.value.code] : []));
  }
}
