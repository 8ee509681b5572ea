import { describe, expect, it } from 'vitest';
import { run } from './run.js';

const sh = (script: string, o: Parameters<typeof run>[2] = {}): Promise<string> => run('sh', ['-c', script], o);
const failed = (message: string) => expect.objectContaining({ code: 'COMMAND_FAILED', message }) as unknown;

describe('a command that the lab runs', () => {
  it('answers what it has printed, reads its input or not, and has no other environment than is given', async () => {
    expect(await sh('cat', { input: 'a\nb\n' })).toBe('a\nb\n');
    expect(await sh('exit 0', { input: 'x'.repeat(1_000_000) })).toBe('');
    const { PATH } = process.env;
    expect(await sh('echo $GIVEN $HOME', { env: { PATH, GIVEN: 'given' } })).toBe('given\n');
  });

  it('fails with its code and its last words, or with what kept it from starting', async () => {
    const words = 'echo out; echo first >&2; echo last >&2; exit 3';
    await expect(sh(words)).rejects.toEqual(failed(`sh -c ${words}: exit 3: last`));
    await expect(sh('echo out; exit 4')).rejects.toEqual(failed('sh -c echo out; exit 4: exit 4: out'));
    await expect(sh('kill -9 $$')).rejects.toEqual(failed('sh -c kill -9 $$: SIGKILL'));
    await expect(run('no-such-tool', ['a'])).rejects.toEqual(failed('no-such-tool a: spawn no-such-tool ENOENT'));
  });

  it('is ended at its time limit, also where what it has started holds its output', async () => {
    const began = performance.now();
    const script = 'sleep 30 & wait';
    await expect(sh(script, { timeoutMs: 500 })).rejects.toEqual(failed(`sh -c ${script}: no end after 0.5 s`));
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});
