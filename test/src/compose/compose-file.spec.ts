import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Containers } from '#bus/init/shown-files.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Service {
  user?: string;
  read_only?: boolean;
  privileged?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  restart?: string;
  mem_limit?: string;
  pids_limit?: number;
  network_mode?: string;
  ports?: string[];
  volumes?: string[];
  profiles?: string[];
  environment?: Record<string, string>;
  build?: { target: string };
}
const { services } = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, Service> };
const long = Object.keys(services).filter((name) => services[name]?.profiles === undefined);
const all = Object.entries(services);

/** What npm run test:compose sees on an engine; this is what the file says where none can be had. */
describe('docker-compose.yml', () => {
  it('runs NATS and every service, and nothing else by itself', () => {
    expect(new Set(long)).toEqual(new Set(Containers));
  });

  it.each(all)('gives no rights to %s', (name, s) => {
    expect([s.user, s.read_only, s.privileged, s.cap_drop]).toEqual(['10001:10001', true, undefined, ['ALL']]);
    expect([s.cap_add, s.security_opt]).toEqual(
      name === 'detector' ? [['NET_RAW'], []] : [undefined, ['no-new-privileges:true']],
    );
    expect([s.mem_limit, s.pids_limit]).toEqual([expect.any(String), expect.any(Number)]);
  });

  it.each(all)('shows nobody more than its own part of the installation: %s', (name, { volumes = [] }) => {
    // Both are an operator's tools: one makes the installation, the other signs a user with its key.
    if (['init', 'store'].includes(name)) return;
    const other = ['nats', 'inventory', 'provisioner'].map((volume) => `${volume}:/var/lib/muster/${volume}`);
    const own = [`shown-${name}:/etc/muster:ro`, ...other.filter((volume) => volume.startsWith(`${name}:`))];
    expect(volumes).toEqual(name === 'cli' ? [] : own);
  });

  it('starts again what has ended', () => {
    expect(long.map((name) => services[name]?.restart)).toEqual(long.map(() => 'unless-stopped'));
  });

  it('tells each service which machine it runs on', () => {
    for (const name of [...long.filter((service) => service !== 'nats'), 'init'])
      expect([name, services[name]?.environment?.['MUSTER_HOST']]).toEqual([
        name,
        expect.stringMatching(/^\$\{MUSTER_HOST:\?/),
      ]);
  });

  it('copies the store by the installation’s own keys, at the NATS that is there, into a place that is kept', () => {
    const { store } = services;
    expect(store).toMatchObject({
      profiles: ['tools'],
      restart: 'no',
      environment: { MUSTER_NATS: 'nats://nats:4222' },
    });
    expect(store?.volumes).toEqual(['config:/etc/muster', '${MUSTER_SAVED:-saved}:/saved']);
  });

  it('has a command line that looks for no installation where none is shown', () => {
    const image = /^ENV .*MUSTER_CONFIG=(\S+)/m.exec(read('Dockerfile'))?.[1];
    expect([image, services.cli?.environment?.['MUSTER_CONFIG']]).toEqual(['/etc/muster/muster.yaml', '']);
  });

  it('tells nobody that NATS is restarted by itself when its disk has room again: an engine restarts what has ended', () => {
    const told = all.filter(([, { environment = {} }]) => Object.hasOwn(environment, 'MUSTER_NATS_RESTARTED'));
    expect(told.map(([name]) => name)).toEqual([]);
  });

  it('publishes NATS and the gateway, on named addresses', () => {
    // Without its defaults: what is published where.
    const published = all.flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port.replace(/:-[^}]*\}/g, '}')]),
    );
    expect(published).toEqual([
      ['nats', '127.0.0.1:${MUSTER_NATS_PORT}:4222'],
      ['nats', '${MUSTER_MANAGEMENT}:${MUSTER_NATS_PORT}:4222'],
      ['nats', '${MUSTER_BACKEND}:${MUSTER_NATS_PORT}:4222'],
      ['gateway', '${MUSTER_HTTP}:9007'],
    ]);
    expect(all.filter(([, s]) => s.network_mode === 'host').map(([name]) => name)).toEqual([
      'detector',
      'provisioner',
      'fencer',
      'demo',
    ]);
  });

  it('builds targets that the Dockerfile has, and takes its base images as arguments', () => {
    const dockerfile = read('Dockerfile');
    for (const [, { build }] of all)
      if (build !== undefined) expect(dockerfile).toMatch(new RegExp(`^FROM service AS ${build.target}$`, 'm'));
    expect(dockerfile.match(/^FROM (?!packages|service|\$\{BASE_IMAGE\}).*$/gm)).toBeNull();
    expect(read('docker-compose.yml')).toContain('image: ${NATS_IMAGE:-nats:2.14-alpine}');
  });

  it('installs nothing anew when only the code has changed', () => {
    const stages = read('Dockerfile')
      .split(/^FROM /m)
      .slice(1);
    const code = /^COPY (?:--from=build |libs |apps |lab |bin |playbooks )/m;
    const later = (stage: string): string => stage.slice(code.exec(stage)?.index ?? stage.length);
    expect(stages.filter((stage) => code.test(stage)).length).toBeGreaterThan(0);
    expect(stages.filter((stage) => /apt-get install|npm (?:ci|prune)/.test(later(stage)))).toEqual([]);
    // Nor does a stage come from one that has code in it already.
    const withCode = stages.filter((stage) => code.test(stage)).map((stage) => / AS (\S+)/.exec(stage)?.[1]);
    expect(stages.filter((stage) => withCode.includes(/^(\S+) AS/.exec(stage)?.[1]))).toEqual([]);
  });

  it('has the variables that docs/compose.md explains, and no others', () => {
    const used = [...read('docker-compose.yml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name);
    const section = /## What is set in(.*?)\n## /s.exec(read('docs/compose.md'))?.[1] ?? '';
    const told = [...section.matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name]) => name);
    // Of the command line, not of the machine.
    expect(new Set(used.filter((name) => name !== 'MUSTER_TOKEN'))).toEqual(new Set(told));
  });
});
