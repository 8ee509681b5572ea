import { describe, expect, it } from 'vitest';
import { MusterError } from './errors.js';
import { toldOutside } from './told-outside.js';

describe('what people and programs outside are told', () => {
  it('hides what failed inside, and leaves a refusal as it is', () => {
    const refusal = new MusterError('NODE_BUSY', 'a job has it', { node: 'a-1' });
    expect(toldOutside(refusal)).toBe(refusal);
    expect(toldOutside(new MusterError('INTERNAL', 'x is undefined')).message).not.toContain('x is undefined');
  });

  it('does not call a write refused that may have been done', () => {
    const plain = new MusterError('REVISION_CONFLICT', 'revision 4 is no longer current');
    expect(toldOutside(plain)).toBe(plain);
    const told = toldOutside(new MusterError('REVISION_CONFLICT', 'revision 4 is old', { key: 'a-1', inDoubt: true }));
    expect(told).toMatchObject({ code: 'TIMEOUT', facts: { key: 'a-1' } });
    expect(told.message).toMatch(/may have been done.*revision 4 is old$/);
  });
});
