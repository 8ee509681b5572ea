import { describe, expect, it } from 'vitest';
import { MOST_CONDITIONS, type DetectorCondition } from '#contracts';
import { worstFirst } from './worst-first.js';

const condition = (code: DetectorCondition['code'], subject: string): DetectorCondition => ({
  code,
  subject,
  severity: 'warning',
  message: `${subject} has it.`,
});
const many = (code: DetectorCondition['code'], n: number): DetectorCondition[] =>
  Array.from({ length: n }, (_, i) => condition(code, `n${String(i).padStart(4, '0')}`));
const ids = (all: DetectorCondition[], members: number): string[] =>
  worstFirst(all, members).map((c) => `${c.code}=${c.subject}`);

describe('the conditions in a beacon', () => {
  it('name each subject of a code once', () => {
    expect(ids([condition('link-down', 'a~b'), condition('link-down', 'a~b')], 5)).toEqual(['link-down=a~b']);
  });

  it('are one where most of the fleet has the same', () => {
    expect(ids(many('agent-health', 3), 5)).toEqual(['agent-health=fleet']);
    expect(ids(many('agent-health', 2), 5)).toHaveLength(2);
    expect(ids(many('agent-health', 1), 1)).toEqual(['agent-health=n0000']);
    const [one] = worstFirst(many('agent-health', 700), 1000);
    expect(one?.message).toContain('n0000, n0001, n0002, n0003, n0004 and 695 more');
    expect(ids([...many('auth-failure', 3), condition('auth-failure', 'fleet')], 5)).toEqual(['auth-failure=fleet']);
  });

  it('are the worst first, and no more than a beacon carries', () => {
    const critical: DetectorCondition = { ...condition('link-quality', 'z'), severity: 'critical' };
    const all = [...many('agent-health', 200), condition('auth-failure', 'x'), critical];
    const told = ids(all, 1000);
    expect(told).toHaveLength(MOST_CONDITIONS);
    expect(told.slice(0, 3)).toEqual(['link-quality=z', 'auth-failure=x', 'agent-health=n0000']);
  });
});
