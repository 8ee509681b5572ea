import type { StatusView } from '#contracts';
import { Api } from '../fleet/api.js';
import type { LabFolder } from '../folder.js';
import type { ControlPlan, LabPlan } from '../plan.js';
import { isReachable } from './control-state.js';
import { askMonitor } from './monitor.js';

/** What a control host leads. */
export interface Leads {
  /** Held by a process of it. */
  leases: string[];
  /** Streams whose leader is its nats-server. */
  streams: string[];
  /** Its nats-server leads the cluster itself. */
  meta: boolean;
}

/** As much of `/jsz?streams=true` as is needed. */
export interface JszPage {
  meta_cluster?: { leader?: string };
  account_details?: { stream_detail?: { name: string; cluster?: { leader?: string } }[] }[];
}

/** By the control hosts' names. A lease belongs to where the instance that holds it runs: `fencer-2` to `ctl2`. */
export function leadsOf(
  controls: readonly ControlPlan[],
  leases: readonly { name: string; holder?: string }[],
  pages: readonly JszPage[],
): Record<string, Leads> {
  const streams = pages.flatMap((p) => p.account_details ?? []).flatMap((a) => a.stream_detail ?? []);
  const ledBy = (c: ControlPlan): string[] => [
    ...new Set(streams.filter((s) => s.cluster?.leader === c.name).map((s) => s.name)),
  ];
  return Object.fromEntries(
    controls.map((c) => [
      c.name,
      {
        leases: leases.filter((l) => l.holder?.endsWith(`-${c.n}`)).map((l) => l.name),
        streams: ledBy(c).toSorted(),
        meta: pages.some((p) => p.meta_cluster?.leader === c.name),
      },
    ]),
  );
}

/** As it is told now by those that can be asked: of a cluster without a leader nobody knows one. */
export async function readLeaders(folder: LabFolder, plan: LabPlan): Promise<Record<string, Leads>> {
  const asked = plan.controls.filter((c) => isReachable(folder, c));
  const api = new Api(folder.apis, folder.token);
  const [status, pages] = await Promise.all([
    api.get<StatusView>('/v1/status').catch(() => undefined), // no gateway has a view now: then nobody is known to hold one
    Promise.all(
      asked.map((c) =>
        askMonitor(c, '/jsz?accounts=true&streams=true').then(
          (text): JszPage => JSON.parse(text) as JszPage,
          (): JszPage => ({}), // its server does not answer: the others tell
        ),
      ),
    ),
  ]);
  return leadsOf(plan.controls, status?.leases ?? [], pages);
}
