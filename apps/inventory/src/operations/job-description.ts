import { masked } from '#contracts';
import type { AdmissionRequest } from './admission.js';

/** One line about a job, in the words that clients of the operations contract know. */
export function describeJob(r: AdmissionRequest, nodes: readonly string[], extraVars: Record<string, unknown>): string {
  const vars = JSON.stringify(masked(extraVars));
  const list = `[${nodes.join(' ')}]`;
  switch (r.kind) {
    case 'commission':
      return `commissionEvent: nodes:${list} extra-vars:${vars} host-group:${r.hostGroup ?? ''}`;
    case 'decommission':
      return `decommissionEvent: nodes:${list} extra-vars: ${vars}`;
    case 'maintenance':
      return `updateEvent: nodes:${list} extra-vars:${vars} host-group:${r.hostGroup ?? ''}`;
    case 'discover':
      return `discoverEvent: addr:[${r.addresses.join(' ')}] extra-vars:${vars}`;
    case 'service-test':
      return `serviceTestEvent: nodes:${list} extra-vars:${vars} service:${r.service ?? ''}`;
    case 'check':
    case 'resetup':
      return `${r.kind}Event: nodes:${list} extra-vars:${vars}`;
  }
}
