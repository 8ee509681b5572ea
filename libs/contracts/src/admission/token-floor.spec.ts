import { describe, expect, it } from 'vitest';
import { standIn } from '../records/stand-in.js';
import type { IncidentRecord } from '../incident/incident.js';
import type { JobRecord } from '../job/job.js';
import { aNode } from '../testing/a-node.js';
import { conductorFloor, detectorFloor, fencerFloor } from './token-floor.js';

const incident = (o: Partial<IncidentRecord>): IncidentRecord => ({
  ...(standIn({ bucket: 'incidents', key: 'n-1', revision: 1, why: '' }) as IncidentRecord),
  ...o,
});
const command = { n: 1, fencer: 'f', level: 0, device: 'bmc', verb: 'off' as const, at: 0 };

describe('the highest token in the records', () => {
  it('of a fencing leader is in incidents and in their commands', () => {
    expect(fencerFloor([])).toBe(0);
    expect(fencerFloor([incident({ epoch: 7 }), incident({ epoch: 3 })])).toBe(7);
    expect(fencerFloor([incident({ epoch: 7, commands: [{ ...command, epoch: 9 }] })])).toBe(9);
  });

  it('of a conductor is in incidents and in jobs', () => {
    expect(conductorFloor([incident({ conductor: 4 })], [])).toBe(4);
    const refused = { conductor: 5, outranked: 9 } as JobRecord;
    expect(conductorFloor([incident({ conductor: 4 })], [refused])).toBe(9);
  });

  it('of a detector is in what rests on its verdicts', () => {
    const verdict = { verdict: 'UP' as const, networks: [], epoch: 12, seq: 1, at: 0 };
    expect(detectorFloor([aNode('n-1', { verdict }), aNode('n-2')])).toBe(12);
  });
});
