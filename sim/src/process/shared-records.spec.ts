import { describe, expect, it } from 'vitest';
import { aNode } from '#contracts/testing/a-node.js';
import { anIncident } from '#contracts/testing/an-incident.js';
import { sharedRecords } from './shared-records.js';

const stored = (o: Parameters<typeof aNode>[1] = {}): string => JSON.stringify(aNode('n-1', o));

describe('the records of a world', () => {
  it('are decoded once for all who read them, and anew where another value stands there', () => {
    const sut = sharedRecords().decode;
    const one = sut('nodes', 'n-1', stored());
    expect(sut('nodes', 'n-1', stored())).toBe(one);
    expect(sut('nodes', 'n-1', stored({ state: 'Disappeared' }))).toMatchObject({ value: { state: 'Disappeared' } });
    expect(sut('nodes', 'n-2', stored())).toEqual({ why: 'name is not its key' });
    expect(sut('nodes', 'n-1', stored())).toEqual(one);
  });

  it('can be changed by none of them, however deep', () => {
    const { value } = sharedRecords().decode('nodes', 'n-1', stored()) as { value: ReturnType<typeof aNode> };
    expect(() => (value.state = 'Disappeared')).toThrow(TypeError);
    expect(() => (value.networks['management'] = { address: '192.0.2.1' })).toThrow(TypeError);
    expect(() => value.powerLevels.push([])).toThrow(TypeError);
  });

  it('are written as the product writes them, and read back the same', () => {
    const sut = sharedRecords();
    const i = anIncident('n-1', { epoch: 3 });
    const text = sut.encode('incidents', i);
    expect(JSON.parse(text)).toMatchObject({ schema: 2, node: 'n-1', log: { epoch: 3 }, incident: { id: i.id } });
    expect(sut.decode('incidents', 'n-1', text)).toEqual({ value: i });
  });
});
