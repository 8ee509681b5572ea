import { describe, expect, it } from 'vitest';
import { execaSync } from 'execa';
import { fileURLToPath } from 'node:url';
import { refuseOddPaths } from './host-image.js';

const program = fileURLToPath(new URL('../../dist/lab/src/main.js', import.meta.url));

describe('the lab refuses at once', () => {
  it.each(['70000', '-1', '1.5', 'x'])('--port %s, as a wrong option', (port) => {
    const { exitCode, stderr } = execaSync(process.execPath, [program, 'up', `--port=${port}`], { reject: false });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("'--port <port>' argument");
  });

  it('--bare without networks of its own, and says why', () => {
    const args = [program, '--dir', '/tmp/lab-usage-spec', 'up', '--mode', 'loopback', '--bare', '1'];
    const { exitCode, stderr } = execaSync(process.execPath, args, { reject: false });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--bare needs root and netns mode')]);
  });

  it('a clone or a Node whose path would end at a blank in the scripts of its hosts', () => {
    expect(() => refuseOddPaths('/home/u/My Projects/muster')).toThrow(
      'this clone of Muster is in "/home/u/My Projects/',
    );
    expect(() => refuseOddPaths('/home/u/muster', '/opt/my node/bin/node')).toThrow('Node is in "/opt/my node/');
    expect(() => refuseOddPaths('/home/u/muster', '/usr/bin/node')).not.toThrow();
  });
});
