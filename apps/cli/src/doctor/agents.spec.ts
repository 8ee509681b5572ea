import { describe, expect, it } from 'vitest';
import type { AgentFacts, DiagnosisView } from '#contracts';
import { agentFindings } from './agents.js';

const agent = (node: string, o: Partial<AgentFacts> = {}): AgentFacts => ({
  node,
  ageMs: 500,
  version: '0.1.0',
  clockOffMs: 20,
  ...o,
});
const sut = (...agents: AgentFacts[]) =>
  agentFindings({ value: { version: '0.1.0', agents } as unknown as DiagnosisView });
const of = (node: string, ...agents: AgentFacts[]): Record<string, string> =>
  Object.fromEntries(
    sut(...agents)
      .filter((f) => f.subject === node)
      .map((f) => [f.check.slice('agent.'.length), f.state]),
  );

describe('the doctor on agents', () => {
  it('is content with one that is heard, of this version, in time, and hears all others', () => {
    expect(of('a', agent('a'), agent('b'))).toEqual({ report: 'ok', version: 'ok', clock: 'ok', udp: 'ok' });
  });

  it('knows nothing of one that is not heard but that', () => {
    const nothing = { report: 'bad', version: 'unknown', clock: 'unknown', udp: 'unknown' };
    expect(of('a', agent('a', { ageMs: 10_001 }))).toEqual(nothing);
    expect(of('a', { node: 'a' })).toEqual(nothing);
  });

  it('warns of another version, and does not know of one that is not told', () => {
    expect(of('a', agent('a', { version: '0.0.9' }))['version']).toBe('warn');
    expect(of('a', { node: 'a', ageMs: 1 })).toMatchObject({ version: 'unknown', clock: 'unknown' });
  });

  it('finds a clock that is off, either way', () => {
    expect(of('a', agent('a', { clockOffMs: -2_001 }))['clock']).toBe('warn');
    expect(of('a', agent('a', { clockOffMs: 60_001 }))['clock']).toBe('bad');
  });

  it('finds datagrams that do not pass, at both ends, and says where they pass one way', () => {
    const deaf = [agent('a', { misses: { backend: ['b'] } }), agent('b')];
    expect([of('a', ...deaf)['udp'], of('b', ...deaf)['udp']]).toEqual(['bad', 'bad']);
    const texts = sut(...deaf).filter((f) => f.check === 'agent.udp').map((f) => f.text); // prettier-ignore
    expect(texts).toEqual(['backend: it has no echo from b; one way: b', 'backend: a has none from it']);
  });

  it('does not blame links for an agent that is silent', () => {
    expect(of('a', agent('a', { misses: { backend: ['b'] } }), agent('b', { ageMs: 60_000 }))['udp']).toBe('ok');
  });

  it('says unknown where nobody could be asked', () => {
    expect(agentFindings({ failed: 'no' }).map((f) => f.state)).toEqual(Array(4).fill('unknown'));
  });
});
