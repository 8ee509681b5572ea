import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { MusterError } from '../errors/errors.js';
import type { NodeView } from './node.js';
import { parseSelector, SelectorKeys } from './selector.js';

const node: NodeView = {
  name: 'host-1',
  label: 'host',
  serial: '1',
  failureDomain: 'a',
  networks: { management: { address: '10.0.0.1' }, backend: { address: 'fd00::1' } },
  powerLevels: [],
  provisionDriver: 'ansible',
  vars: { rack: 'r1', ssd: true, gpu: false, slots: 4, none: null, empty: '', disks: ['a', 'b'] },
  fencing: 'auto',
  enrolled: true,
  status: 'Allocated',
  prevStatus: 'Provisioning',
  state: 'Discovered',
  prevState: 'Unknown',
  createdAt: 1,
  revision: 7,
  inService: true,
  reasons: [],
};
const selects = (text: string, o: Partial<NodeView> = {}): boolean => parseSelector(text)({ ...node, ...o });
const refusal = (text: string): MusterError => {
  try {
    parseSelector(text);
  } catch (e) {
    return MusterError.from(e);
  }
  throw new Error(`"${text}" was taken`);
};

describe('a selector', () => {
  it.each([
    ['name=host-1', true],
    ['label=host, serial=1', true],
    ['label=host,serial=2', false],
    ['status=Allocated,state!=Disappeared,fencing=auto,provisionDriver=ansible', true],
    ['failureDomain!=a', false],
    ['enrolled', true],
    ['inService=false', false],
    ['address=10.0.0.1', true],
    ['address=fd00::1', true],
    ['address!=10.0.0.1', false],
    ['address!=10.0.0.2', true],
    ['hostGroup', false],
    ['hostGroup=', true],
    ['hostGroup!=service-master', true],
    ['vars.rack=r1', true],
    ['vars.rack!=r1', false],
    ['vars.ssd', true],
    ['vars.ssd=true', true],
    ['vars.gpu', false],
    ['vars.slots=4', true],
    ['vars.none', false],
    ['vars.empty', false],
    ['vars.disks', true],
    ['vars.absent!=x', true],
    ['vars.constructor', false],
  ])('%s: %s', (text, expected) => {
    expect(selects(text)).toBe(expected);
  });

  it.each([
    ['', '""'],
    ['name=host-1,', '""'],
    ['status=Allocated,rack=r1', '"rack=r1"'],
    ['status!=allocated', '"status!=allocated"'],
    ['inService=yes', '"inService=yes"'],
    ['vars.=1', '"vars.=1"'],
    ['=1', '"=1"'],
    ['name==host-1', '"name==host-1"'],
    ['two words', '"two words"'],
    ['toString', '"toString"'],
  ])('%j is refused by the name of %s', (text, piece) => {
    const { code, message } = refusal(text);
    expect(code).toBe('BAD_REQUEST');
    expect(message).toContain(`selector ${piece}:`);
  });

  it('splits every fleet in two: what a piece selects, and what its opposite does', () => {
    const value = fc.stringMatching(/^[A-Za-z0-9._:-]{0,12}$/);
    const key = fc.constantFrom(
      ...SelectorKeys.filter((k) => !['status', 'state', 'fencing', 'enrolled', 'inService'].includes(k)),
      'vars.rack',
    );
    fc.assert(
      fc.property(key, value, value, value, (k, wanted, rack, hostGroup) => {
        const given = { ...node, hostGroup, vars: { rack } };
        expect(parseSelector(`${k}=${wanted}`)(given)).toBe(!parseSelector(`${k}!=${wanted}`)(given));
        expect(parseSelector(`vars.rack=${rack},hostGroup=${hostGroup}`)(given)).toBe(true);
      }),
    );
  });

  it('is read, or refused with a sentence, whatever is typed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          parseSelector(text)(node);
        } catch (e) {
          expect(e).toBeInstanceOf(MusterError);
        }
      }),
    );
  });
});
