import { describe, expect, it } from 'vitest';
import { aJob } from '../testing/fixtures.js';
import { shownJob } from './shown-job.js';

describe('a job as shown', () => {
  it('tells no secret of its variables, nor of what it starts', () => {
    const extraVars = { nap: 4, ceph_key: 's3cret', db: { password_hash: 's3cret', port: 1 }, munge_key: ['s3cret'] };
    const recover = [{ workload: 'db', generation: 1, driver: 'ssh', spec: { unit: 'db', apiToken: 's3cret' } }];
    const job = aJob({ kind: 'recover', extraVars, recover, fingerprint: 'of-s3cret' });
    const view = shownJob(job, 7);
    expect(JSON.stringify(view)).not.toContain('s3cret');
    expect(view).toMatchObject({
      revision: 7,
      extraVars: { nap: 4, db: { port: 1 } },
      recover: [{ spec: { unit: 'db' } }],
    });
    expect(job.extraVars).toEqual(extraVars);
  });
});
