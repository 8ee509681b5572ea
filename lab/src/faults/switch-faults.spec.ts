import { describe, expect, it } from 'vitest';
import { execaSync } from 'execa';
import { whyNoNamespaces } from '../mode.js';
import { planLab } from '../plan.js';
import {
  directionOf,
  faultText,
  networksOf,
  pairOf,
  permilleOf,
  sidesOf,
  withFaults,
  withoutEnd,
  type SwitchFault,
} from './switch-fault.js';
import { endOf, switchPorts } from './switch.js';
import { switchRules } from './switch-rules.js';

const plan = planLab('/a', 'netns', 3);
const end = endOf(plan);
const cut = (from: string, to: string): SwitchFault => ({ kind: 'cut', network: 'management', from, to });
const rulesOf = (...faults: SwitchFault[]): string[] =>
  switchRules(faults, switchPorts(plan))
    .split('\n')
    .filter((l) => /^ {4}[io]ifname/.test(l))
    .map((l) => l.trim());

describe('the rules of a switch', () => {
  it('drop what passes from one end to another, whatever it is, and nothing on the way back', () => {
    expect(rulesOf(cut('host1', 'host2'))).toEqual(['iifname { "m1" } oifname { "m2" } counter drop']);
    expect(rulesOf({ kind: 'cut', network: 'backend', from: 'ctl', to: 'host3' })).toEqual([
      'iifname { "ctl-backend" } oifname { "b3" } counter drop',
    ]);
  });

  it('keep the sides of a partition apart both ways, and leave alone who is on none', () => {
    const sides = [['host1'], ['host2', 'ctl']];
    expect(rulesOf({ kind: 'partition', network: 'management', sides })).toEqual([
      'iifname { "m1" } oifname { "m2", "ctl-management" } counter drop',
      'iifname { "m2", "ctl-management" } oifname { "m1" } counter drop',
    ]);
  });

  it('lose each frame once in the switch, and on a cable each way', () => {
    const all = 'iifname { "ctl-backend", "b1", "b2", "b3" } numgen random mod 1000 < 50 counter drop';
    expect(rulesOf({ kind: 'loss', network: 'backend', permille: 50 })).toEqual([all]);
    expect(rulesOf({ kind: 'loss', network: 'backend', end: 'host2', permille: 200 })).toEqual([
      'iifname { "b2" } numgen random mod 1000 < 200 counter drop',
      'oifname { "b2" } numgen random mod 1000 < 200 counter drop',
    ]);
  });

  it('lose only what the end of a cable has sent, or only what it is to receive', () => {
    const backend = { kind: 'loss', network: 'backend', end: 'host2', permille: 800 } as const;
    const lost = 'numgen random mod 1000 < 800 counter drop';
    expect(rulesOf({ ...backend, direction: 'sent' })).toEqual([`iifname { "b2" } ${lost}`]);
    expect(rulesOf({ ...backend, direction: 'received' })).toEqual([`oifname { "b2" } ${lost}`]);
    expect([faultText({ ...backend, direction: 'sent' }), faultText(backend)]).toEqual([
      'backend: 80 % lost of what host2 has sent',
      'backend: 80 % lost on the cable of host2',
    ]);
  });

  it('carry nothing for anybody where the switch is down, the BMCs included', () => {
    expect(rulesOf({ kind: 'down', network: 'management' })).toEqual([
      'iifname { "ctl-management", "m1", "m2", "m3" } counter drop',
    ]);
    expect(rulesOf({ kind: 'down', network: 'oob' })).toEqual(['iifname { "ctl-oob", "bmc" } counter drop']);
  });

  it('replace what was there in one transaction, also by nothing', () => {
    const replace = 'table bridge lab\ndelete table bridge lab\n';
    expect(switchRules([], switchPorts(plan))).toBe(replace);
    expect(switchRules([cut('host1', 'host2')], switchPorts(plan)).startsWith(replace)).toBe(true);
  });

  it('lose everything at 100 %', () => {
    expect(rulesOf({ kind: 'loss', network: 'backend', end: 'host1', permille: 1000 })[0]).toBe(
      'iifname { "b1" } counter drop',
    );
  });
});

// Root alone may ask it.
(whyNoNamespaces() === undefined ? describe : describe.skip)('the kernel', () => {
  it('takes the rules of every fault, one ruleset after another', () => {
    const kinds: SwitchFault[] = [
      cut('host1', 'host2'),
      { kind: 'loss', network: 'backend', permille: 1000 },
      { kind: 'loss', network: 'backend', end: 'host2', permille: 999 },
      { kind: 'loss', network: 'management', end: 'host1', permille: 1 },
      { kind: 'loss', network: 'management', end: 'host3', direction: 'sent', permille: 800 },
      { kind: 'partition', network: 'backend', sides: [['host1'], ['host2', 'ctl'], ['host3']] },
      { kind: 'down', network: 'oob' },
    ];
    const files = [kinds, [cut('host2', 'host3')], [], []].map((f) => switchRules(f, switchPorts(plan)));
    const script = 'for rules; do printf %s "$rules" | nft -f -; nft list ruleset | grep -c drop || true; done';
    const done = execaSync('unshare', ['--net', 'sh', '-ec', script, 'sh', ...files]);
    expect([done.stderr, done.stdout]).toEqual(['', '14\n1\n0\n0']);
  });
});

describe('faults of a switch', () => {
  const none: SwitchFault[] = [];
  const loss = (permille: number, name?: string): SwitchFault => ({
    kind: 'loss',
    network: 'backend',
    permille,
    ...(name !== undefined && { end: name }),
  });

  it('add up, and one of the same kind at the same place replaces the earlier', () => {
    expect(withFaults([loss(10), cut('host1', 'host2')], [loss(50), loss(20, 'host1')])).toEqual([
      cut('host1', 'host2'),
      loss(50),
      loss(20, 'host1'),
    ]);
  });

  it('end a loss by a loss of 0: of one cable, or of the switch and all its cables', () => {
    const some = [loss(10), loss(20, 'host1'), loss(30, 'host2'), cut('host1', 'host2')];
    expect(withFaults(some, [loss(0, 'host1')])).toEqual([loss(10), loss(30, 'host2'), cut('host1', 'host2')]);
    expect(withFaults(some, [loss(0)])).toEqual([cut('host1', 'host2')]);
    expect(withFaults(none, [loss(0)])).toEqual([]);
  });

  it('leave one host alone when its cables are whole again, and stay for the others', () => {
    const sides = [['host1', 'host2'], ['host3']];
    const split: SwitchFault = { kind: 'partition', network: 'backend', sides };
    const down: SwitchFault = { kind: 'down', network: 'backend' };
    const before = [cut('host1', 'host2'), cut('host2', 'host3'), loss(5, 'host1'), loss(5), split, down];
    const after = withoutEnd(before, 'host1');
    expect(after).toEqual([cut('host2', 'host3'), loss(5), { ...split, sides: [['host2'], ['host3']] }, down]);
    expect(withoutEnd([split], 'host3')).toEqual([]);
  });

  it('are told by names of hosts, of nodes, and of the control host', () => {
    expect(pairOf('host1-L1:ctl', end)).toEqual(['host1', 'ctl']);
    expect(sidesOf('host1,host2/host3,ctl', end)).toEqual([
      ['host1', 'host2'],
      ['host3', 'ctl'],
    ]);
    expect([permilleOf('0.5'), permilleOf('20'), permilleOf('100')]).toEqual([5, 200, 1000]);
    expect(networksOf()).toEqual(['management', 'backend']);
  });

  it.each(['host1', 'host1:host1', 'host1:', ':host1', 'host1:host2:host3', 'host1:host9'])(
    'refuse the link %p',
    (t) => {
      expect(() => pairOf(t, end)).toThrow(/two ends are expected|both ends are|no host "host9"/);
    },
  );

  it.each(['host1,host2', 'host1/', 'host1/host1', 'host1,,host2/host3'])('refuse the sides %p', (t) => {
    expect(() => sidesOf(t, end)).toThrow(/sides are expected|stands in it twice/);
  });

  it.each(['-1', '101', '1.25', '5%', ''])('refuse a loss of %p', (t) => {
    expect(() => permilleOf(t)).toThrow('a loss from 0 to 100 % is expected');
  });

  it('take a direction of a loss for the cables of hosts alone', () => {
    expect(directionOf('sent', ['host1'])).toBe('sent');
    expect(() => directionOf('sent', undefined)).toThrow('--direction goes with --host');
    expect(() => directionOf('up', ['host1'])).toThrow('a direction is sent or received');
  });

  it('refuse a network that hosts are not on', () => {
    expect(() => networksOf(['oob'])).toThrow('no network "oob"; there are management, backend');
  });
});
