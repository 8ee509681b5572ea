import { describe, expect, it } from 'vitest';
import { standIn, type IncidentRecord, type WorkloadRecord } from '#contracts';
import { anIncident } from '#contracts/testing/an-incident.js';
import { aWorkload } from '#contracts/testing/a-workload.js';
import { barOnRecord } from './bar.js';

const proof = { kind: 'read-back', at: 1, level: 0 } as const;
const recovery: IncidentRecord['recovery'] = [{ workload: 'db', from: 'n-9', state: 'waiting' }];
const taken = (o: Partial<IncidentRecord> = {}): IncidentRecord =>
  anIncident('n-9', { id: 'i-9', phase: 'recovering', proof, recovery, ...o });
const doubted = taken({ proof: { ...proof, doubt: { at: 2, since: 1 } as never } });
const unread = standIn({ bucket: 'incidents', key: 'n-8', revision: 7, why: 'it is not JSON' })!;

const bar = (incidents: IncidentRecord[], w: Partial<WorkloadRecord> = {}, speaks: string[] = []) =>
  barOnRecord(aWorkload('db', w), incidents, (node) => speaks.includes(node));

describe('a start is barred', () => {
  it('by a doubt of what proved its node off, and by a proof that is void', () => {
    expect(bar([taken()])).toBeUndefined();
    expect(bar([doubted])).toEqual({ is: 'in-doubt', node: 'n-9' });
    expect(bar([doubted], { name: 'other' })).toBeUndefined();
    const contradiction = { at: 2, proof, recovery } as never;
    expect(bar([taken({ phase: 'failed', recovery: [], contradiction })])).toEqual({ is: 'in-doubt', node: 'n-9' });
    expect(bar([taken({ phase: 'closed', recovery: [], contradiction })])).toBeUndefined();
  });

  it('by an incident that cannot be read, where nothing else says from where it came', () => {
    const assignment = { node: 'n-1', generation: 2 };
    const owed = (cause: string): Partial<WorkloadRecord> => ({ assignment, start: { cause, attempt: 0 } });
    const unreadable = { is: 'unreadable', node: 'n-8' };
    expect(bar([unread])).toEqual(unreadable);
    expect(bar([unread, taken()])).toBeUndefined();
    expect(bar([unread], { move: { cause: 'drain', from: 'n-2', to: 'n-1' } as never })).toBeUndefined();
    expect(bar([unread], owed('incident:i-8'))).toEqual(unreadable);
    expect(bar([unread, taken()], owed('incident:i-9'))).toBeUndefined();
    for (const cause of ['unassigned', 'ended', 'reboot:b']) expect(bar([unread], owed(cause))).toBeUndefined();
    expect(bar([unread], { assignment })).toBeUndefined();
  });

  it('not by one whose node says itself what it runs', () => {
    expect(bar([unread], {}, ['n-8'])).toBeUndefined();
    expect(bar([unread], {}, ['n-1'])).toEqual({ is: 'unreadable', node: 'n-8' });
  });
});
