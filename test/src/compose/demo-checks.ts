import type { NodeView } from '../../../libs/contracts/src/index.js';
import { parseBmcLine } from '../../../lab/src/audit/bmc-log.js';
import { Steps } from '../../../lab/src/demo/story.js';
import { Hopeless, until } from '../../../lab/src/until.js';
import { ask, holds, same, type Check } from './check.js';
import type { Composition } from './composition.js';
import type { ControlMachine } from './control-machine.js';

/** From the start of the demo's lab to the end of its story: half a minute of which is the host's return. */
const STORY_MS = 300_000;
const HOSTS = ['host1', 'host2', 'host3', 'host4'];
/** What somebody who has never seen Muster is to read, in this order; a check after the return may pass or fail. */
const told = Steps.filter((step) => !/^(check_|resetup_)/.test(step));

interface Line {
  step: string;
  seconds: number;
  words: string;
}

/** The lines of act 1: `     3.19 s  down               3 of 4 observers …`. */
const storyLines = (log: string): Line[] =>
  [...log.matchAll(/^\s+(\d+\.\d\d) s {2}([a-z_]+) +(\S.*)$/gm)].map(([, time, step = '', words = '']) => ({
    step,
    seconds: Number(time),
    words,
  }));

/** What its container has said; rejects where it has ended, or tells of a deviation. */
async function story(demo: Composition, container: string): Promise<string> {
  return until(
    'the story to be told',
    STORY_MS,
    async () => {
      const log = await demo.engine.docker('logs', container);
      const { State } = await demo.inspect('demo');
      if (!State.Running || log.includes('NOT ok'))
        throw new Hopeless(new Error(`it went wrong: ${log.slice(-2_000)}`));
      return /^ok, \d+ s in all$/m.test(log) ? log : undefined;
    },
    500,
  );
}

/** That it has no right which the other services do not have. */
async function hasNoRights(demo: Composition): Promise<void> {
  const { Config, HostConfig: host } = await demo.inspect('demo');
  same('its user', Config.User, '10001:10001');
  same('its rights', [host.Privileged, host.ReadonlyRootfs, host.CapAdd, host.CapDrop], [false, true, null, ['ALL']]);
  same('its limits', [host.Memory > 0, host.PidsLimit > 0], [true, true]);
  same(
    'what it sees of others',
    (host.Binds ?? []).map((bind) => bind.replace(/^.*_(?=shown-)/, '')),
    ['shown-demo:/etc/muster:ro'],
  );
}

/** But for the ports of the moment that probes leave from. */
async function listensOnLoopbackAlone(machine: ControlMachine): Promise<void> {
  const sockets = (await machine.on('machine', 'ss', ['-Hlntu'])).split('\n').filter((line) => line !== '');
  const fixed = sockets
    .map((line) => line.trim().split(/\s+/)[4] ?? '')
    .filter((at) => Number(at.split(':').at(-1)) < 32_768);
  holds('nothing listens', fixed.length > 0);
  same(
    'listens on more than loopback',
    fixed.filter((at) => !at.startsWith('127.')),
    [],
  );
}

/** The profile `demo` of docker-compose.yml, on a machine that has nothing yet. */
export const demoChecks: readonly Check[] = [
  {
    name: 'demo',
    title:
      'two commands bring up the demo: a host dies, is proven off, its work runs elsewhere, and the fleet stays up',
    needs: [],
    async run({ machine, composition, demo }) {
      await composition.downAll();
      const made = await demo.run(['run', '--rm', '-T', 'init', 'demo']);
      holds(`init: ${made.stderr}`, made.exitCode === 0 && /^[0-9a-f]{64}$/.test(made.stdout));
      await demo.done('up', '-d', '--no-build');
      await hasNoRights(demo);
      const container = await demo.containerOf('demo');
      const log = await story(demo, container);

      const lines = storyLines(log);
      const steps = lines.filter(({ step }) => (told as string[]).includes(step));
      same(
        'told',
        steps.map(({ step }) => step),
        told,
      );
      const times = steps.map(({ seconds }) => seconds);
      same(
        'seconds',
        times,
        times.toSorted((a, b) => a - b),
      );
      const victim = /^(\w+) dies/.exec(steps[0]?.words ?? '')?.[1] ?? '';
      holds(`who died: ${steps[0]?.words}`, HOSTS.includes(victim));
      // What it tells, its BMCs and the gateway say as well.
      const offs: string[] = [];
      for (const host of HOSTS) {
        // There is none where nobody has asked it anything yet.
        const log = `/lab/demo/bmc/${host}/log.jsonl`;
        const written = await demo.engine.docker('exec', container, 'sh', '-c', `test ! -e ${log} || cat ${log}`);
        const entries = written.split('\n').flatMap((line) => parseBmcLine(host, line) ?? []);
        offs.push(...entries.filter(({ op, value }) => op === 'set' && value === '0').map(() => host));
      }
      same('powered off', offs, [victim]);
      const { items } = await ask<{ items: NodeView[] }>({ machine, token: made.stdout }, 'GET', '/v1/nodes');
      same(
        'in service',
        items.filter(({ inService }) => inService).map(({ label }) => label),
        HOSTS,
      );
      const status = await demo.engine.docker('exec', container, 'lab', 'status');
      holds(
        `lab status: ${status}`,
        HOSTS.every((host) => new RegExp(`^${host} .*runs`, 'm').test(status)),
      );
      await listensOnLoopbackAlone(machine);
      await demo.downAll();
      return steps.map(({ step, seconds }) => `${step} ${seconds} s`).join(', ');
    },
  },
];
