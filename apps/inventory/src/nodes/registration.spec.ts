import { describe, expect, it } from 'vitest';
import { defaultHostGroups, MusterError, type NodeCreateRequest, type NodeRecord } from '#contracts';
import { aNode } from '../testing/fixtures.js';
import { checkDriver } from './driver-check.js';
import { fleetOf, type RuleFacts } from './node-rules.js';
import { register } from './registration.js';

const good: NodeCreateRequest = { label: 'host', serial: 'SN1', networks: { management: { address: '10.0.0.1' } } };
const device = { id: 'bmc', driver: 'ipmitool', address: '10.2.0.1', username: 'admin', password: 's3cret' };
const facts = (others: NodeRecord[], offered = ['ansible', 'ipmitool']): RuleFacts => ({
  fleet: fleetOf(others),
  groups: defaultHostGroups,
  offered: () => offered,
});
const code = (
  o: Partial<NodeCreateRequest>,
  others = [aNode('x-1', { networks: { management: { address: '10.0.0.7' } } })],
): string => {
  try {
    register({ ...good, ...o }, facts(others), 1, 'n1');
  } catch (e) {
    return MusterError.from(e).code;
  }
  return 'ok';
};

describe('registering a node', () => {
  it('keeps its passwords apart from its record', () => {
    const { node, secrets } = register({ ...good, powerLevels: [[device]] }, facts([]), 1, 'n1');
    expect(node.name).toBe('host-SN1');
    expect(JSON.stringify(node)).not.toContain('s3cret');
    expect(node.powerLevels[0]?.[0]).toMatchObject({ id: 'bmc', secret: 'power=host-SN1=bmc=n1' });
    expect(secrets).toEqual({ 'power=host-SN1=bmc=n1': 's3cret' });
  });
  it('refuses a power device where another node has its own, and says which', () => {
    const other = aNode('x-1', { powerLevels: [[device]], networks: { management: { address: '10.0.0.7' } } });
    expect(code({ powerLevels: [[{ ...device, id: 'ilo' }]] }, [other])).toBe('ALREADY_EXISTS');
    expect(code({ powerLevels: [[{ ...device, address: '10.2.0.2' }]] }, [other])).toBe('ok');
  });
  it.each([
    ['a name with a newline', { label: 'a\nb' }, 'BAD_REQUEST'],
    ['a name with a quote', { serial: `1'` }, 'BAD_REQUEST'],
    ['an unknown host group', { hostGroup: 'foo' }, 'HOST_GROUP_INVALID'],
    ['no networks', { networks: {} }, 'BAD_REQUEST'],
    ['no management network', { networks: { backend: { address: '10.1.0.1' } } }, 'BAD_REQUEST'],
    [
      'an address that is a command',
      { networks: { management: { address: '10.0.0.1 ansible_user=root' } } },
      'BAD_REQUEST',
    ],
    ['the address of another node', { networks: { management: { address: '10.0.0.7' } } }, 'ALREADY_EXISTS'],
    ['the name of another node', { label: 'x', serial: '1' }, 'ALREADY_EXISTS'],
    ['a level without devices', { powerLevels: [[]] }, 'BAD_REQUEST'],
    ['two devices of one name', { powerLevels: [[device], [device]] }, 'BAD_REQUEST'],
    ['a power device that is none', { powerLevels: [['bmc']] }, 'BAD_REQUEST'],
    ['a variable that chooses the machine', { vars: { ansible_host: 'x' } }, 'BAD_REQUEST'],
    ['a driver that there is not', { powerLevels: [[{ ...device, driver: 'exec' }]] }, 'BAD_REQUEST'],
    ['a password that IPMI cannot take', { powerLevels: [[{ ...device, password: 'x'.repeat(21) }]] }, 'BAD_REQUEST'],
  ])('is refused with %s', (_what, o, expected) => {
    expect(code(o as Partial<NodeCreateRequest>)).toBe(expected);
    expect(code({})).toBe('ok');
  });
});

describe('the driver of a new node', () => {
  const refusal = (driver: string, offered?: string[]): string => {
    try {
      checkDriver('fencer', driver, offered);
    } catch (e) {
      return `${MusterError.from(e).code} ${MusterError.from(e).message}`;
    }
    return 'ok';
  };
  it('must exist, be offered, and somebody must be alive; those on offer are named', () => {
    expect(refusal('exec', ['exec'])).toBe('ok');
    expect(refusal('magic', ['exec', 'ipmitool'])).toBe(
      'DRIVER_UNKNOWN there is no fencer driver "magic"; on offer: [exec ipmitool]',
    );
    expect(refusal('ipmitool', ['exec'])).toBe(
      'DRIVER_UNAVAILABLE no live fencer offers driver "ipmitool"; on offer: [exec]',
    );
    expect(refusal('ipmitool', [])).toBe('NO_WORKERS no fencer is alive for driver "ipmitool"; on offer: []');
    expect(refusal('ipmitool', undefined)).toMatch(/^NO_WORKERS/);
  });
});
