import { describe, expect, it } from 'vitest';
import type { DetectorCondition } from '#contracts';
import { withoutLossy } from './lossy-nodes.js';
import type { SightedNode } from './sight.js';

const node = (name: string, silentOn: string[] = []): SightedNode => ({
  name,
  networks: ['backend', 'management'],
  verdict: silentOn.length > 0 ? 'DEGRADED' : 'UP',
  silentOn,
  watchedBy: [],
});
const told = (code: DetectorCondition['code'], subject: string): DetectorCondition => ({
  code,
  subject,
  severity: 'warning',
  message: '',
});
const left = (conditions: DetectorCondition[], ...nodes: SightedNode[]): string[] =>
  withoutLossy(conditions, nodes).map((c) => `${c.code} ${c.subject}`);

const all = [
  told('link-down', 'a~b'),
  told('link-down', 'b~c'),
  told('link-quality', 'a'),
  told('agent-health', 'a'),
  told('peer-list', 'a'),
  told('peer-list', 'b'),
];

describe('a node that loses most of what it sends', () => {
  const lossy = node('a', ['backend', 'management']);

  it('is told of by its verdict alone: its links, its reports and its list are no news', () => {
    expect(left(all, lossy, node('b'), node('c'))).toEqual(['link-down b~c', 'peer-list b']);
  });

  it('hides neither who speaks with a wrong key, nor that it has no verdict', () => {
    const grave = [told('auth-failure', 'a'), told('partly-heard', 'a')];
    expect(left(grave, lossy)).toEqual(['auth-failure a', 'partly-heard a']);
  });

  it('hides nothing of a node that is silent on one network of two, or of one that is UP', () => {
    expect(left(all, node('a', ['management']), node('b'))).toHaveLength(all.length);
    expect(left(all, node('a'), node('b'))).toHaveLength(all.length);
  });

  it('hides nothing of a node whose name begins as its own', () => {
    expect(left([told('peer-list', 'a1'), told('link-down', 'a1~b')], lossy)).toHaveLength(2);
  });
});
