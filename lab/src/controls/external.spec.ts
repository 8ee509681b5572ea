import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { controlChoice, type ControlOptions } from './external.js';

describe('where the control hosts of a lab are', () => {
  const creds = mkdtempSync(join(tmpdir(), 'external-spec-'));
  writeFileSync(join(creds, 'muster.yaml'), 'cluster: demo\n');
  afterAll(() => rmSync(creds, { recursive: true }));
  const choice = (o: Partial<ControlOptions>) => controlChoice({ control: 'external', ...o });
  const whole = { nats: ['nats://10.77.1.1:4222', 'tls://10.77.2.1:4222'], http: ['http://127.0.0.1:9007'], creds };

  it('is in the lab, one or three, unless it says otherwise', () => {
    expect(choice({ control: '1' })).toBe(1);
    expect(choice({ control: '3' })).toBe(3);
    expect(() => choice({ control: '1', creds })).toThrow('--creds goes with --control external');
  });

  it('tells agents of a server on each network by its address, and of the cluster by its folder', () => {
    expect(choice(whole)).toEqual({
      nats: { management: ['nats://10.77.1.1:4222'], backend: ['tls://10.77.2.1:4222'] },
      http: ['http://127.0.0.1:9007'],
      creds,
      cluster: 'demo',
    });
  });

  it.each([{ nats: [] }, { nats: ['nats://10.77.2.1:4222'] }, { http: [] }])('needs the rest beside %p', (o) => {
    expect(() => choice({ ...whole, ...o })).toThrow('--control external needs --nats URL');
  });

  it('refuses what is no server, and a folder that names no cluster', () => {
    expect(() => choice({ ...whole, nats: ['10.77.1.1'] })).toThrow('"10.77.1.1": nats://host:port');
    expect(() => choice({ ...whole, http: ['localhost'] })).toThrow('"localhost": nats://host:port');
    expect(() => choice({ ...whole, creds: '/nowhere' })).toThrow('/nowhere/muster.yaml names no cluster');
  });
});
