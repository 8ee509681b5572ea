import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseControlHosts } from '#bus';
import { hostFiles } from './host-files.js';

const three = parseControlHosts('ctl1=10.0.0.1+10.1.0.1,ctl2=2001:db8::2+10.1.0.2,ctl3=10.0.0.3+10.1.0.3');

type Conditions = Record<string, { condition: string }>;
interface Composition {
  services: Record<
    string,
    {
      command?: string[];
      ports?: string[];
      volumes?: string[];
      environment?: Record<string, string>;
      depends_on?: Conditions;
      profiles?: string[];
    }
  >;
  volumes: { config: { driver_opts: { device: string } } };
}
const single = parse(
  readFileSync(join(fileURLToPath(new URL('../../../..', import.meta.url)), 'docker-compose.yml'), 'utf8'),
  { merge: true },
) as Composition;
const place = { dir: '/etc/muster', store: '/var/lib/muster/nats' };
const elsewhere = { dir: '/srv/muster', store: '/srv/nats' };
const compose = (all = three, n = 0, at = place): Composition =>
  parse(hostFiles(all[n]!, all, at)['compose.yml']!) as Composition;

describe('what a control host has beside its part of the installation', () => {
  it('says which host it is', () => {
    expect(hostFiles(three[1]!, three, place)['host.env']!.split('\n').slice(1)).toEqual([
      'MUSTER_HOST=ctl2',
      'MUSTER_HOST_ADDRESSES=2001:db8::2,10.1.0.2',
      'MUSTER_MANAGEMENT=2001:db8::2',
      'MUSTER_BACKEND=10.1.0.2',
      '',
    ]);
  });

  it('publishes the port of the other servers on the management network alone, and names them to every service', () => {
    const { services } = compose();
    expect(services['nats']!.ports).toEqual(['10.0.0.1:6222:6222']);
    expect(services['nats']!.command).toContain('nats://0.0.0.0:6222');
    const others = 'nats://[2001:db8::2]:4222,nats://10.0.0.3:4222';
    const told = Object.fromEntries(
      Object.entries(services).map(([name, s]) => [name, s.environment?.['MUSTER_NATS']]),
    );
    expect(told).toEqual({
      nats: undefined,
      inventory: `nats://nats:4222,${others}`,
      gateway: `nats://nats:4222,${others}`,
      detector: `nats://127.0.0.1:4222,${others}`,
      provisioner: `nats://127.0.0.1:4222,${others}`,
      fencer: `nats://127.0.0.1:4222,${others}`,
    });
    expect(compose(three, 1).services['nats']!.ports).toEqual(['[2001:db8::2]:6222:6222']);
  });

  it('shows the folder of that host to init, and to NATS at the paths that its nats.conf names', () => {
    const { services, volumes } = compose(three, 0, elsewhere);
    expect(volumes.config.driver_opts.device).toBe('/srv/muster');
    expect(services['nats']!.volumes).toEqual(['shown-nats:/srv/muster:ro', 'nats:/srv/nats']);
    const usual = compose();
    expect(usual.volumes.config.driver_opts.device).toBe('/etc/muster');
    expect(usual.services['nats']!.volumes).toBeUndefined();
  });

  it('starts each service while the other hosts are not there yet: without them its NATS is not healthy', () => {
    const { services } = compose();
    const waiting = Object.entries(single.services).flatMap(([name, { profiles, depends_on = {} }]) =>
      profiles === undefined ? Object.keys(depends_on).map((needed) => [name, needed] as const) : [],
    );
    expect(waiting.length).toBeGreaterThan(0);
    for (const [name, needed] of waiting)
      expect([name, services[name]?.depends_on?.[needed]?.condition]).toEqual([name, 'service_started']);
  });

  it('has a single server waited for, as docker-compose.yml says', () => {
    const { services } = compose(three.slice(0, 1));
    expect(Object.values(services).map((s) => s.depends_on)).toEqual(Object.keys(services).map(() => undefined));
  });

  it('has no port for others where there are none', () => {
    const { services } = compose(three.slice(0, 1));
    expect(services['nats']!.ports).toBeUndefined();
    expect(services['nats']!.command).not.toContain('--cluster_listen');
    expect(services['inventory']!.environment).toEqual({ MUSTER_NATS: 'nats://nats:4222' });
  });
});
