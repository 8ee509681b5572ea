import { describe, expect, it } from 'vitest';
import { aNode } from '#contracts/testing/a-node.js';
import { defaultSettings } from '#contracts';
import { stormCounts, type StormFacts } from './storm-counts.js';

describe('gate DOMAIN', () => {
  it('says how many fell silent together, of how many, and how many may', () => {
    const silent = ['a-1', 'a-2', 'a-3'].map((node) => ({ node, domain: 'rack', forMs: 1_000 }));
    const facts: StormFacts = {
      limits: defaultSettings('lab').fencing.storm,
      ...{ members: 8, silent, unrecovered: [], grants: [], domains: { rack: { members: 4 } } },
      domainOf: () => undefined,
    };
    expect(stormCounts.DOMAIN(facts, aNode('a-1', { failureDomain: 'rack' }))).toEqual({
      pass: false,
      detail: '3 of 4 nodes of failure domain rack fell silent within 60 s; at most 2 may.',
    });
  });
});
