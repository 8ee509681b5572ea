import { execa } from 'execa';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { simCommand } from './sim-command.js';
import { USAGE } from './sim-options.js';

const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'sim', 'src', 'run-sim.js');
const sim = (...args: string[]): Promise<{ stdout: string; stderr: string; exitCode?: number }> =>
  execa(process.execPath, [PROGRAM, ...args], { reject: false });

describe('npm run sim', () => {
  it.each([
    ['a replay of several histories', 'hands --replay 1 --histories 2'],
    ['a replay of each so manieth', 'hands --sweep death-off --replay 1 --every 2'],
    ['each so manieth of random histories', 'hands --every 2'],
    ['a replay from some history on', 'hands --replay 1 --from 2'],
    ['a number that would be rounded', 'hands --histories 1 --seed 99999999999999999999'],
    ['a story as one line', 'detect --replay 1 --json'],
    ['a replay by several workers', 'hands --replay 1 --workers 2'],
  ])('refuses %s with its usage', async (_, args) => {
    await expect(simCommand(args.split(' '))).rejects.toThrow(USAGE);
  });

  it('refuses a crash point that the history has not, and ends with 2', async () => {
    const { exitCode, stderr } = await sim('hands', '--sweep', 'death-off', '--replay', '999999');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/death-off has \d+ crash points: 0 is the first/),
    });
  });

  it.each([
    ['random histories', ['--histories', '20', '--seed', '2']],
    ['the crash points of a named one', ['--sweep', 'off-lost', '--every', '60']],
  ])('plays %s by any number of workers with the same outcome', async (_, args) => {
    const [one, three] = await Promise.all(
      ['1', '3'].map((workers) => sim('hands', ...args, '--workers', workers, '--json')),
    );
    expect(three).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(three?.stdout ?? '')).toEqual(JSON.parse(one?.stdout ?? ''));
  });

  it('ends a replay with --json in the line of a run', async () => {
    const { stdout } = await sim('hands', '--seed', '3', '--replay', '5', '--json');
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as object;
    expect(last).toMatchObject({ histories: 1, seed: 3, violations: [] });
    expect(Object.keys(last)).toEqual(['histories', 'seed', 'medianVirtualMs', 'violations', 'probes', 'hash']);
  });
});
