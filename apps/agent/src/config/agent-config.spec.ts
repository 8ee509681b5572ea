import { describe, expect, it } from 'vitest';
import { checkConfig } from './agent-config.js';
import { leavingKind, type ManagerWord } from '../report/leaving.js';
import { ReportTiming } from '../report/report-timing.js';

const good = {
  node: 'n-1',
  cluster: 'c',
  networks: { management: { bind: '127.0.0.1' } },
  port: 7946,
  nats: { management: ['nats://127.0.0.1:4222'] },
  keys: '/k',
};

describe('agent.json', () => {
  it('is taken with its defaults', () => {
    expect(checkConfig(good)).toMatchObject({ stateDir: '/var/lib/muster', socket: '/run/muster/agent.sock' });
  });

  it('has every part of the rejoin loop on and bare probes off, unless it says otherwise', () => {
    const all = { loop: true, timer: true, triggers: true, lowRate: true };
    expect(checkConfig(good).rejoin).toEqual(all);
    expect(checkConfig(good)).not.toHaveProperty('plain');
    const said = checkConfig({ ...good, rejoin: { timer: false }, plain: { port: 7948 } });
    expect(said.rejoin).toEqual({ ...all, timer: false });
    expect(said.plain).toEqual({ port: 7948 });
  });

  it.each<[string, object]>([
    ['node', { node: 'no spaces' }],
    ['cluster', { cluster: '' }],
    ['networks', { networks: {} }],
    ['networks.management.bind', { networks: { management: { bind: 'localhost' } } }],
    ['port', { port: '7946' }],
    ['nats', { nats: {} }],
    ['nats.management', { nats: { management: [] } }],
    ['keys', { keys: undefined }],
    ['lister', { lister: 'a b' }],
    ['rejoin', { rejoin: false }],
    ['rejoin.loop', { rejoin: { loop: 'off' } }],
    ['rejoin.lop', { rejoin: { lop: false } }],
    ['rejoin.toString', { rejoin: { toString: false } }],
    ['plain.port', { plain: true }],
    ['plain.port', { plain: { port: 0 } }],
    ['plain.port', { plain: { port: good.port } }],
  ])('is refused by the name of the field: %s', (field, over) => {
    expect(() => checkConfig({ ...good, ...over })).toThrow(`"${field}"`);
  });
});

describe('why an agent is stopped', () => {
  const files =
    (f: Record<string, string>) =>
    (name: string): string | undefined =>
      f[name];
  const serves: ManagerWord = { state: 'running', jobs: '' };
  const job = (target: string): string => `17 ${target} start waiting\n18 muster-agent.service stop running\n`;
  it.each<[string, Record<string, string>, NodeJS.ProcessEnv, ManagerWord, string]>([
    ['only the agent, of a host that runs', {}, {}, serves, 'stop'],
    ['only the agent, of a host of which some unit has failed', {}, {}, { ...serves, state: 'degraded' }, 'stop'],
    ['only the agent, with other jobs', {}, {}, { ...serves, jobs: '3 a.service start running\n' }, 'stop'],
    ['a scheduled reboot', { '/run/systemd/shutdown/scheduled': 'USEC=1\nMODE=reboot\n' }, {}, serves, 'reboot'],
    ['a scheduled power-off', { '/run/systemd/shutdown/scheduled': 'MODE=poweroff\n' }, {}, serves, 'poweroff'],
    ['as was said before', { '/run/muster/leaving': 'reboot\n' }, {}, serves, 'reboot'],
    ['as the environment says', {}, { MUSTER_LEAVING: 'poweroff' }, serves, 'poweroff'],
    ['nonsense is no word of it', { '/run/muster/leaving': 'holiday' }, {}, serves, 'stop'],
    ['the manager is stopping', {}, {}, { ...serves, state: 'stopping' }, 'reboot'],
    ['a reboot is queued', {}, {}, { ...serves, jobs: job('reboot.target') }, 'reboot'],
    ['a power-off is queued', {}, {}, { state: 'stopping', jobs: job('poweroff.target') }, 'poweroff'],
    ['the manager is not sure', {}, {}, { ...serves, state: 'maintenance' }, 'reboot'],
    ['the manager gives no answer', {}, {}, {}, 'reboot'],
    ['the jobs are not known', {}, {}, { state: 'running' }, 'reboot'],
  ])('%s', (_what, f, env, manager, kind) => {
    expect(leavingKind(manager, files(f), env)).toBe(kind);
  });
});

describe('reports', () => {
  it('go out each period, and at once on a change, with a least distance', () => {
    const timing = new ReportTiming(() => 1000);
    const sent: number[] = [];
    const changes = (now: number): number => (now < 300 ? 0 : now < 320 ? 1 : now < 1500 ? 2 : 3);
    for (let now = 0; now < 2600; now += 20) if (timing.due(now, changes(now))) sent.push(now);
    expect(sent).toEqual([0, 300, 340, 1340, 1500, 2500]);
  });
});
