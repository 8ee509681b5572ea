import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { findPromtool } from '#bus/testing/promtool.js';
import { ServiceMetrics } from './service-metrics.js';

const path = (file: string): string => fileURLToPath(new URL(`../../../../${file}`, import.meta.url));

const { program: promtool, missing } = findPromtool();
const name = 'deploy/prometheus, as promtool sees it';

(missing === '' ? describe : describe.skip)(missing === '' ? name : `${name} (there is none: ${missing})`, () => {
  let dir: string;
  const run = (args: string[], input = '') => execa(promtool, args, { cwd: dir, input, reject: false, all: true });

  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-prometheus-'));
    cpSync(path('deploy/prometheus'), dir, { recursive: true });
    writeFileSync(join(dir, 'muster.token'), 'a token of a viewer');
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('is a configuration with rules that it takes', async () => {
    for (const args of [
      ['check', 'config', 'prometheus.yml'],
      ['check', 'rules', 'muster.rules.yml'],
    ]) {
      const { exitCode, all } = await run(args);
      expect([exitCode, exitCode === 0 ? '' : all]).toEqual([0, '']);
    }
  });

  it('has rules that fire when they are to, each of them tried', async () => {
    const { exitCode, all } = await run(['test', 'rules', 'muster.rules.test.yml']);
    expect([exitCode, exitCode === 0 ? '' : all]).toEqual([0, '']);
    const names = (file: string, key: string): Set<string> =>
      new Set(
        [...readFileSync(join(dir, file), 'utf8').matchAll(new RegExp(`${key}: (\\w+)`, 'g'))].map((m) => m[1] ?? ''),
      );
    expect(names('muster.rules.test.yml', 'alertname')).toEqual(names('muster.rules.yml', '- alert'));
  });

  it.each(['detector', 'inventory', 'provisioner', 'fencer'] as const)('scrapes what %s tells', async (service) => {
    const metrics = new ServiceMetrics({ connected: true, contended: new Map([['fencer', () => true]]) }, service);
    metrics.collect();
    metrics.power('off', true, 10);
    metrics.verdict('UP');
    const text = await metrics.text();
    metrics.stop();
    const { exitCode, all } = await run(['check', 'metrics'], text);
    expect([exitCode, exitCode === 0 ? '' : all]).toEqual([0, '']);
  });
});
