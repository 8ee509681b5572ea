import { describe, expect, it } from 'vitest';
import type { Service } from '../services/service-folder.js';
import { testSubject } from './test-subject.js';

const web = { name: 'web', groups: { master: 'absent', worker: 'server', edge: 'proxy' } } as unknown as Service;
const subject = (o: { hostGroup?: string; of?: string; service?: string }): string => {
  const job = { services: [o.service ?? 'web'], ...(o.hostGroup !== undefined && { hostGroup: o.hostGroup }) };
  const found = testSubject(job, o.of === undefined ? {} : { hostGroup: o.of }, [web]);
  return `${found.service.name} as ${found.mode} in ${found.hostGroup}`;
};

describe('what a test is about', () => {
  it('is the service in the host group that was asked for, else in that of the node, else in its first', () => {
    expect(subject({ hostGroup: 'edge', of: 'worker' })).toBe('web as proxy in edge');
    expect(subject({ of: 'edge' })).toBe('web as proxy in edge');
    expect(subject({ of: 'master' })).toBe('web as server in worker');
    expect(subject({ of: 'other' })).toBe('web as server in worker');
    expect(subject({})).toBe('web as server in worker');
  });

  it('is refused where it must not be, where it has no mode, and where there is no such service', () => {
    expect(() => subject({ hostGroup: 'master' })).toThrow('its service.yml has worker, edge');
    expect(() => subject({ hostGroup: 'toString' })).toThrow('its service.yml has worker, edge');
    expect(() => subject({ service: 'wob' })).toThrow('has no wob here; it has: web');
  });
});
