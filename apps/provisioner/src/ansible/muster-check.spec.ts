import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execa } from 'execa';
import type { Finding } from '#contracts';
import { program } from '../testing/playbooks.js';

/** The real module and its action plugin, by the real ansible-playbook on this machine. */
const own = fileURLToPath(new URL('../../../../playbooks', import.meta.url));
const FILE_SECRET = 'the-secret-in-the-file';
const STRAY_SECRET = 'the-secret-that-was-printed';

let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-check-'));
  await mkdir(join(dir, 'run'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

interface CheckRun {
  output: string;
  /** Lines of the events file: what Muster is told. */
  events: Record<string, unknown>[];
}

/** One start of Ansible, with a task for each of what is asked. */
async function check(
  asked: object | readonly object[],
  o: { python?: string; verbose?: boolean; compare?: boolean } = {},
): Promise<CheckRun> {
  const [playbook, events] = [join(dir, 'check.yml'), join(dir, 'events')];
  await rm(events, { force: true });
  const play = {
    hosts: 'localhost',
    connection: 'local',
    gather_facts: false,
    vars: { ansible_python_interpreter: o.python ?? '/usr/bin/python3' },
    tasks: [asked].flat().map((args: object) => ({ name: 'Look', muster_check: { service: 'web', ...args } })),
  };
  await writeFile(playbook, JSON.stringify([play]));
  const { all } = await execa('ansible-playbook', [...(o.verbose === true ? ['-vvv'] : []), playbook], {
    all: true,
    reject: false,
    env: {
      ANSIBLE_CONFIG: join(own, 'ansible.cfg'),
      ANSIBLE_LIBRARY: join(own, 'library'),
      ANSIBLE_MODULE_UTILS: join(own, 'module_utils'),
      ANSIBLE_ACTION_PLUGINS: join(own, 'action_plugins'),
      ANSIBLE_CALLBACK_PLUGINS: join(own, 'callback_plugins'),
      ANSIBLE_CALLBACKS_ENABLED: 'muster_events',
      MUSTER_EVENTS_FILE: events,
      ...(o.compare === true && { MUSTER_COMPARE: join(dir, 'run') }),
    },
  });
  const lines = (await readFile(events, 'utf8')).trim().split('\n');
  return { output: all, events: lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('a check whose module ends without a result', () => {
  const file = { path: '/nowhere/web.conf', content: base64(FILE_SECRET) };

  it.each([
    ['by what it printed', `#!/bin/sh\necho '{"standing": "${STRAY_SECRET}"'\nexit 7\n`],
    ['by what it complained of', `#!/bin/sh\necho 'cannot read ${STRAY_SECRET}' >&2\nexit 7\n`],
    [
      'by its traceback',
      `#!/bin/sh\nprintf 'Traceback (most recent call last):\\n  File "x", line 1\\nKeyError: ${STRAY_SECRET}\\n' >&2\nexit 7\n`,
    ],
  ])('tells nothing %s, but that it did', async (what, text) => {
    const python = join(dir, `python-${what.length}`);
    await program(python, text);
    const { output, events } = await check({ files: [file] }, { python, verbose: true, compare: true });
    expect(output).toContain('FAILED!');
    const told = output + JSON.stringify(events);
    for (const secret of [STRAY_SECRET, base64(STRAY_SECRET), file.content]) expect(told).not.toContain(secret);
    const failed = events.find((e) => e['status'] === 'failed');
    expect(failed?.['message']).toMatch(/^muster_check ended without a result \(exit code 7(, KeyError)?\)/);
    if (what.includes('traceback')) expect(failed?.['message']).toContain('KeyError');
  });

  it('names a missing interpreter', async () => {
    const { events } = await check({ files: [file] }, { python: '/nowhere/python3' });
    const failed = events.find((e) => e['status'] === 'failed');
    expect(failed?.['message']).toMatch(/exit code 127.*interpreter/s);
  });
});

describe('a drift that a task before has found', () => {
  it('has a digest of its evidence, and none where it is told in words alone', async () => {
    const files = [{ path: '/nowhere/web.conf', content: base64(FILE_SECRET) }];
    const asked = [{}, { files }, { evidence: 'port 1' }, { evidence: 'port 2' }, { evidence: 'port 2', files }];
    const { events } = await check(asked.map((args) => ({ drift: 'web.conf is another', ...args })));
    const found = events.flatMap((e) => (e['event'] === 'data' ? [(e['data'] as { finding: Finding }).finding] : []));
    expect(found).toHaveLength(asked.length);
    for (const finding of found)
      expect(finding).toMatchObject({ result: 'drift', why: expect.stringContaining('web.conf is another') as never });
    const [inWords, inWordsWithFiles, one, other, withFiles] = found.map((f) => f.digest);
    expect([inWords, inWordsWithFiles]).toEqual([undefined, undefined]);
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set([one, other, withFiles]).size).toBe(3);
  });
});

describe('what a check was asked', () => {
  it('is in no output, since it holds contents of files', async () => {
    const content = base64(FILE_SECRET);
    const { output, events } = await check({ files: [{ path: '/nowhere/web.conf', content }] }, { verbose: true });
    expect(events.find((e) => e['event'] === 'data')).toMatchObject({
      data: { finding: { result: 'drift' } as Finding },
    });
    expect(output).not.toContain(content);
  });
});
