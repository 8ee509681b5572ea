import { describe, expect, it } from 'vitest';
import type { OwnProbe } from '#contracts';
import type { AfterAnswer } from '../store/after-answer.js';
import type { AuditService } from '../store/audit.service.js';
import { foundDead } from '../testing/investigation.js';
import { MemoryStore } from '../testing/memory-store.js';
import { aNode, anIncident, anOwnProbe, aVerdict } from '../testing/records.js';
import type { VerdictNow } from '../verdicts/verdict-now.js';
import type { GateFactsService } from './gate-facts.js';
import { IncidentService } from './incident.service.js';
import { OperatorOrders } from './operator-orders.service.js';
import type { PowerEvidence } from './power-evidence.js';

const node = aNode('n-1');

/** @param probe what the monitor's look at the host has found; undefined: nobody could look */
async function confirmed(probe: Partial<OwnProbe> | undefined, force = false): Promise<unknown> {
  const store = new MemoryStore();
  store.nodes.set('n-1', node);
  store.incidents.set('n-1', anIncident('n-1', { phase: 'suppressed', gate: 'LIFE_SIGN' }));
  const { evidence } = aVerdict('n-1');
  const { ownProbe: _, ...others } = evidence;
  const found = { ...others, ...(probe !== undefined && { ownProbe: anOwnProbe(probe) }) };
  const facts = foundDead(node, { verdict: aVerdict('n-1', { evidence: found }) }).gates;
  const sut = new OperatorOrders(
    store.asStore,
    new IncidentService(store.asStore, {} as AuditService, {} as AfterAnswer),
    { gather: async () => Promise.resolve(facts) } as unknown as GateFactsService,
    { of: async () => Promise.resolve(facts.verdict) } as unknown as VerdictNow,
    {} as PowerEvidence,
  );
  return sut.confirm({ by: 'eve', node: 'n-1', reason: 'seen', force });
}

describe('a node is confirmed down', () => {
  it('where nothing of it answers, or nobody could look', async () => {
    expect(await confirmed({})).toMatchObject({ phase: 'fenced' });
    expect(await confirmed(undefined)).toMatchObject({ phase: 'fenced' });
  });

  it.each<Partial<OwnProbe>>([{ icmp: 'reply' }, { ssh: 'refused' }, { echo: ['backend'] }])(
    'only with force while its host shows %o',
    async (probe) => {
      await expect(confirmed(probe)).rejects.toMatchObject({ code: 'STILL_ALIVE' });
      expect(await confirmed(probe, true)).toMatchObject({ phase: 'fenced' });
    },
  );
});
