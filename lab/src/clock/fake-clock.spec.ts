import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LabFolder } from '../folder.js';
import { planLab } from '../plan.js';
import { clockEnvironment, offsetOf, setClock, wrongClocks } from './fake-clock.js';

let dir: string;
const plan = planLab('/a', 'netns', 2);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'lab-clock-'));
  mkdirSync(join(dir, 'run'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('clocks of a lab', () => {
  it('are those of the machine, and stay so, unless it was started with clocks of its own', () => {
    const folder = new LabFolder(dir);
    expect([clockEnvironment(folder, 'host1'), wrongClocks(folder)]).toEqual([{}, {}]);
    expect(() => setClock(folder, plan, 'host1', '+1h')).toThrow('lab up --faketime');
  });

  it('are set for the agent of a host, for one process of a service, or for both', () => {
    mkdirSync(join(dir, 'clock'));
    const folder = new LabFolder(dir);
    expect(setClock(folder, plan, 'host2-L2', '+1h')).toEqual(['host2']);
    expect(setClock(folder, plan, 'detector', '-1h')).toEqual(['detector.1', 'detector.2']);
    expect(setClock(folder, plan, 'detector-2', '0')).toEqual(['detector.2']);
    expect(wrongClocks(folder)).toEqual({ 'detector.1': '-1h', host2: '+1h' });
    expect(() => setClock(folder, plan, 'nats', '+1h')).toThrow('no service "nats"');
  });

  it('are off by what libfaketime can read, and by nothing else', () => {
    expect(['+1h', '-90s', '0', '+0', '-0'].map(offsetOf)).toEqual(['+1h', '-90s', '+0', '+0', '+0']);
    for (const wrong of ['1h', '+1', '+1.5h', 'now', '+1h x2', ''])
      expect(() => offsetOf(wrong)).toThrow('is expected');
  });
});
