import type { Bus } from '#bus';
import type { IncidentRecord } from '#contracts';
import { anIncident } from '#contracts/testing/an-incident.js';

/** An incident that is decided: the node is to be powered off. */
export async function openFencingIncident(bus: Bus, node: string, o: Partial<IncidentRecord> = {}): Promise<void> {
  const at = Date.now();
  await bus.bucket<IncidentRecord>('incidents').create(
    node,
    anIncident(node, {
      id: 'i1',
      phase: 'fencing',
      openedAt: at,
      updatedAt: at,
      steps: [{ phase: 'fencing', at, detail: 'spec' }],
      ...o,
    }),
  );
}

/**
 * Resolves with the first state of the node's incident that fits; rejects with what it stayed after `limitMs`, and at once
 * when `signal` is aborted.
 */
export async function incidentWhere(
  bus: Bus,
  node: string,
  fits: (i: IncidentRecord) => boolean,
  { limitMs = 30_000, signal }: { limitMs?: number; signal?: AbortSignal } = {},
): Promise<IncidentRecord> {
  const view = await bus.bucket<IncidentRecord>('incidents').view();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      const look = (): void => {
        const i = view.get(node)?.value;
        if (i !== undefined && fits(i)) resolve(i);
      };
      timer = setTimeout(
        () => reject(new Error(`the incident stayed ${JSON.stringify(view.get(node)?.value, undefined, 1)}`)),
        limitMs,
      );
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
      view.onChange(look);
      look();
    });
  } finally {
    clearTimeout(timer);
    await view.close();
  }
}
