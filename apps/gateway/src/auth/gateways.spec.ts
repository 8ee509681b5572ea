import { afterAll, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateways, gateways4, gateways6, readGateways } from './gateways.js';

/** As in a container of Docker. */
const route = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT                                                       
eth0	00000000	010011AC	0003	0	0	0	00000000	0	0	0                                                                               
eth1	0000000A	FE02A8C0	0003	0	0	0	000000FF	0	0	0                                                                               
eth0	000011AC	00000000	0001	0	0	0	0000FFFF	0	0	0                                                                               
`;
const zero = '0'.repeat(32);
const route6 = `fd000000000000000000000000000000 40 ${zero} 00 ${zero} 00000100 00000001 00000000 00000001     eth0
${zero} 00 ${zero} 00 fd000000000000000000000000000001 00000400 00000002 00000000 00000003     eth0
${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200       lo
`;

describe('the routers of a machine', () => {
  it('are those of every route that has one, in the byte order of the machine', () => {
    expect(gateways4(route, 'LE')).toEqual(['172.17.0.1', '192.168.2.254']);
    expect(gateways4(route.replace('010011AC', 'AC110001').replace('FE02A8C0', 'C0A802FE'), 'BE')).toEqual([
      '172.17.0.1',
      '192.168.2.254',
    ]);
    expect(gateways6(route6)).toEqual(['fd00:0000:0000:0000:0000:0000:0000:0001']);
  });

  it('are none on a machine without routes', () => {
    expect(gateways4(route.split('\n')[0] ?? '', 'LE')).toEqual([]);
    expect([gateways4('', 'LE'), gateways6('')]).toEqual([[], []]);
  });

  it('are not guessed from lines that are not understood', () => {
    expect(() => gateways4(`${route}eth2 default 10.0.0.1\n`, 'LE')).toThrow('"eth2 default 10.0.0.1"');
    expect(() => gateways6(`${route6}default via fe80::1\n`)).toThrow('"default via fe80::1"');
  });
});

describe('their files', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-routes-'));
  afterAll(() => rmSync(dir, { recursive: true }));

  it('must be there, but for that of IPv6, which a kernel may not have', () => {
    expect(() => readGateways(dir)).toThrow(
      `compat.allowFrom: whose requests come through a router cannot be told, since ${dir}/route`,
    );
    writeFileSync(join(dir, 'route'), route);
    expect(readGateways(dir)).toHaveLength(2);
    writeFileSync(join(dir, 'ipv6_route'), route6);
    expect(readGateways(dir)).toHaveLength(3);
  });
});

describe('the routers as they are now', () => {
  it('are read again, once a second at most, and a change is told', () => {
    let now = 0;
    let reads = 0;
    let table = ['10.0.0.254', '10.0.0.254'];
    const told: unknown[] = [];
    const read = (): string[] => {
      reads += 1;
      return table;
    };
    const sut = new Gateways({ now: () => now, read, log: { warn: (facts: object) => void told.push(facts) } });
    expect([sut.current(), sut.current(), reads]).toEqual([['10.0.0.254'], ['10.0.0.254'], 1]);
    table = ['172.17.0.1', '10.0.0.254'];
    now = 999;
    expect(sut.current()).toEqual(['10.0.0.254']);
    now = 1_000;
    expect([sut.current(), reads, told]).toEqual([
      ['10.0.0.254', '172.17.0.1'],
      2,
      [{ never: ['10.0.0.254', '172.17.0.1'] }],
    ]);
    table = ['172.17.0.1', '10.0.0.254'].reverse();
    now = 5_000;
    expect([sut.current().length, told.length]).toEqual([2, 1]);
  });

  it('are not taken from the past where they cannot be read any more', () => {
    let now = 0;
    const tables = [['10.0.0.254']];
    const read = (): string[] => {
      const table = tables.pop();
      if (table === undefined) throw new Error('gone');
      return table;
    };
    const sut = new Gateways({ now: () => now, read, log: { warn: () => undefined } });
    now = 2_000;
    for (let n = 0; n < 2; n++) expect(() => sut.current()).toThrow('gone');
  });
});
