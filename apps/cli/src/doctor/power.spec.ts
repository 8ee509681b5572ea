import { describe, expect, it } from 'vitest';
import type { NodeView, PowerDevice, PowerIdentity } from '#contracts';
import { identityBasis } from '#contracts/node/identity-standing.js';
import { powerFindings, sshFindings, type PowerReads } from './power.js';

const DAY = 86_400_000;
const now = 100 * DAY;
const device: PowerDevice = { id: 'bmc', driver: 'ipmitool', address: '10.2.0.1' };
const identity = (o: Partial<PowerIdentity>): PowerIdentity => ({
  result: 'proven',
  by: 'drill',
  at: now - 2 * DAY,
  basis: identityBasis(device),
  ...o,
});
const node = (o: Partial<NodeView> = {}): NodeView =>
  ({
    name: 'a-1',
    networks: { management: { address: '10.0.0.1' } },
    powerLevels: [[device]],
    powerIdentity: { bmc: identity({}) },
    fencing: 'auto',
    enrolled: true,
    lastCheck: { ok: true, at: now - DAY, job: 'j' },
    ...o,
  }) as NodeView;
const { powerIdentity: _none, ...bare } = node();
const on: PowerReads = { value: [{ id: 'bmc', power: 'on' }] };
const states = (n: NodeView, reads: PowerReads | undefined = on): Record<string, string> =>
  Object.fromEntries(
    powerFindings([n], reads === undefined ? new Map() : new Map([['a-1', reads]]), now).map((f) => [
      f.check.slice('bmc.'.length),
      f.state,
    ]),
  );
const known = (o: Partial<PowerIdentity>): NodeView => node({ powerIdentity: { bmc: identity(o) } });

describe('the doctor on power devices', () => {
  it('is content with one that answers, is its node’s own and was drilled', () => {
    expect(states(node())).toEqual({ answer: 'ok', identity: 'ok', drill: 'ok' });
  });

  it('finds one that does not answer, and says when it was read well', () => {
    const reads = { value: [{ id: 'bmc', power: 'unknown' as const, code: 'BMC_TIMEOUT' }] };
    expect(states(node(), reads).answer).toBe('bad');
    const [answer] = powerFindings([node()], new Map([['a-1', reads]]), now);
    expect(answer?.text).toBe('no answer at 10.2.0.1 (BMC_TIMEOUT); it was read well 2 d ago');
  });

  it('does not know of one that was not asked, is being fenced, or whose fencer is gone', () => {
    expect(powerFindings([node()], new Map(), now)[0]?.state).toBe('unknown');
    expect(states(node(), { failed: 'no live fencer' }).answer).toBe('unknown');
    expect(states(node(), { value: [{ id: 'bmc', power: 'unknown', code: 'NODE_BUSY' }] }).answer).toBe('unknown');
    expect(states(node(), { value: [] }).answer).toBe('unknown');
  });

  it('judges whose it is, and whether that was ever tried', () => {
    expect(states(known({ by: 'guid' }))).toMatchObject({ identity: 'ok', drill: 'warn' });
    expect(states(known({ result: 'mismatch', why: 'w' }))).toMatchObject({ identity: 'bad', drill: 'warn' });
    expect(states(known({ result: 'unproven', why: 'w' })).identity).toBe('warn');
    const acknowledged = { by: 'ann', why: 'w', at: 1 };
    expect(states(known({ result: 'mismatch', acknowledged })).identity).toBe('warn');
    expect(states(bare as NodeView).identity).toBe('unknown');
    expect(states(known({ basis: 'of another place' })).identity).toBe('unknown');
  });

  it('finds a node that is to be fenced and has none', () => {
    expect(states(node({ powerLevels: [] }))).toEqual({ answer: 'bad' });
    expect(states(node({ powerLevels: [], fencing: 'manual' }))).toEqual({ answer: 'skipped' });
    expect(states(node({ powerLevels: [], enrolled: false }))).toEqual({ answer: 'skipped' });
  });
});

describe('the doctor on ssh', () => {
  const state = (o: Partial<NodeView>): string | undefined => sshFindings([node(o)], now)[0]?.state;
  const check = { job: 'j', at: now - DAY, ok: false };

  it('is content with a login of late', () => expect(state({})).toBe('ok'));
  it('warns of one that is long ago', () =>
    expect(state({ lastCheck: { ...check, ok: true, at: now - 31 * DAY } as never })).toBe('warn'));
  it('finds a node that was not reached', () => {
    expect(state({ lastCheck: { ...check, unreachable: true } as never })).toBe('bad');
    const pendingReturn = { reason: 'rebooted' as const, at: 1, unreached: { tries: 3, why: 'refused' } };
    expect(state({ pendingReturn })).toBe('bad');
    expect(state({ networks: {} })).toBe('bad');
  });
  it('does not know of one where nobody has logged in', () => {
    const { lastCheck: _last, ...fresh } = node();
    expect(sshFindings([fresh as NodeView], now)[0]?.state).toBe('unknown');
  });
});
