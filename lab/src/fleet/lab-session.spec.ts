import { afterAll, describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import { LabSession } from './lab-session.js';

const program = fileURLToPath(new URL('../../../dist/lab/src/main.js', import.meta.url));

describe('a session of the lab', () => {
  const session = new LabSession({ dir: '/tmp/lab-session-spec' }, program);
  afterAll(() => session.close());

  it('answers commands that overlap, each with what it alone would', async () => {
    const [audit, status, option] = await Promise.allSettled([
      session.run(['audit', '--self-test']),
      session.run(['status']),
      session.run(['up', '--port=70000']),
    ]);
    expect(audit).toMatchObject({ status: 'fulfilled', value: { ok: true } });
    expect(status).toMatchObject({
      reason: { code: 'COMMAND_FAILED', message: expect.stringContaining('lab status: ') },
    });
    expect(option).toMatchObject({ reason: { message: expect.stringContaining('lab up --port=70000: ') } });
  });

  it('says that it has ended to whoever asks it then, and to whoever waits', async () => {
    const ending = new LabSession({ dir: '/tmp/lab-session-spec' }, program);
    ending.close();
    await expect(ending.run(['status'])).rejects.toMatchObject({ code: 'COMMAND_FAILED' });
    await expect(ending.run(['status'])).rejects.toMatchObject({ message: expect.stringContaining('has ended') });
  });
});
