import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execa } from 'execa';
import { MusterUnderTest } from '../testing/muster.js';
import { node } from '../testing/nodes.js';

describe('completion', () => {
  const sut = new MusterUnderTest();
  beforeAll(() => sut.start());
  afterAll(() => sut.stop());
  const next = async (...words: string[]): Promise<string[]> => {
    const { code, stdout, stderr } = await sut.call(['completion', 'words', '--', ...words]);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.split('\n').filter((word) => word !== '');
  };

  it('knows commands, those below them, and options', async () => {
    expect(await next('incid')).toEqual(['incident']);
    expect(await next('incident', 're')).toEqual(['report', 'release']);
    expect(await next('incident', 'report', '--fo')).toEqual(['--format']);
    expect(await next('node', 'get', '--out')).toEqual(['--output']);
    expect(await next('-u', 'localhost:9007', 'nodes', 'disc')).toEqual(['discover']);
    expect(await next('node', 'fence', '--reason', '')).toEqual([]);
  });

  it('knows the nodes, and says nothing where they cannot be asked for', async () => {
    expect(await next('node', 'get', 'a')).toEqual([]);
    sut.on('GET /v1/nodes', { items: [node('a-1'), node('b-2')] });
    expect(await next('node', 'get', 'a')).toEqual(['a-1']);
    expect(await next('nodes', 'commission', 'a-1', '')).toEqual(['a-1', 'b-2']);
    expect(await next('incident', 'report', 'b')).toEqual(['b-2']);
    expect(await next('workload', 'get', 'a')).toEqual([]);
  });

  it('is asked by a script of the shell, with the words up to the cursor', async () => {
    const { stdout: script } = await sut.call(['completion', 'bash']);
    const line = `${script}
muster() { printf '%s|' "$@" >&2; printf 'get\\ngrow\\n'; }
exec 2>&1; COMP_WORDS=(muster node g rest); COMP_CWORD=2; _muster 2>&1; echo "\${#COMPREPLY[@]} \${COMPREPLY[1]}"`;
    const { stdout } = await execa('bash', ['-c', line]);
    expect(stdout).toBe('2 grow');
    for (const shell of ['zsh', 'fish'])
      expect((await sut.call(['completion', shell])).stdout).toContain('muster completion words -- ');
  });

  it.each(['--version', '-v'])('is beside %s', async (flag) => {
    expect(await sut.call([flag])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^muster \d+\.\d+\.\d+\n$/),
      stderr: '',
    });
  });

  it('says what to do where a server speaks http and https is asked for', async () => {
    const { code, stderr } = await sut.call(['status', '-u', `https://${sut.url}`]);
    expect([code, stderr]).toEqual([
      1,
      `muster: no Muster at https://${sut.url}: it does not speak https: write http:// (--url, MUSTER_URL)\n`,
    ]);
  });
});
