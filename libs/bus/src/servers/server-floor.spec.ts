import { describe, expect, it } from 'vitest';
import { serverRefusal, serversRefusal, singleServerLack } from './server-floor.js';

const single = (version: string) => ({ name: 'n1', version });
const three = (...versions: string[]) => versions.map((version, i) => ({ name: `n${i + 1}`, version, cluster: 'c' }));

describe('the version of a NATS server', () => {
  it('is any for a single server', () => {
    for (const version of ['2.9.10', '2.10.27', '2.12.1', '2.15.1'])
      expect(serverRefusal(single(version))).toBeUndefined();
  });

  it('is 2.12.12 or later of 2.12, else 2.14.3 or newer, for a cluster', () => {
    const taken = ['2.12.12', '2.12.30', '2.14.3', '2.14.10', '2.15.0', '2.15.1-RC.2', '3.0.0'];
    const refused = [
      '2.9.21',
      '2.10.27',
      '2.11.9',
      '2.12.0',
      '2.12.11',
      '2.13.5',
      '2.14.0',
      '2.14.2',
      '1.99.99',
      'odd',
    ];
    const isTaken = (version: string) => serverRefusal({ version, cluster: 'c' }) === undefined;
    expect(taken.filter((v) => !isTaken(v))).toEqual([]);
    expect(refused.filter(isTaken)).toEqual([]);
  });

  it('is asked of every server: one that is too old is named', () => {
    expect(serversRefusal(three('2.14.3', '2.14.3', '2.14.2'), 3)).toMatch(
      /^NATS server n3 of cluster c has version 2\.14\.2, .*2\.14\.3 or newer/,
    );
    expect(serversRefusal(three('2.14.3', '2.15.1', '2.12.12'), 3)).toBeUndefined();
  });
});

describe('the copies that are asked for', () => {
  it('are one on a single server', () => {
    expect(serversRefusal([single('2.9.10')], 1)).toBeUndefined();
    expect(serversRefusal([single('2.15.1')], 3)).toMatch(
      /^replicas: 3 needs a cluster of NATS, and n1 is a single server: set replicas: 1/,
    );
  });

  it('are more than one on a cluster', () => {
    expect(serversRefusal(three('2.15.1'), 1)).toMatch(
      /^replicas: 1 on NATS cluster c would lose records .*: set replicas: 3/,
    );
    expect(serversRefusal(three('2.15.1'), 5)).toBeUndefined();
  });

  it('are not asked of servers that keep separate stores', () => {
    const [a] = three('2.15.1');
    for (const other of [single('2.15.1'), { name: 'n2', version: '2.15.1', cluster: 'd' }])
      expect(serversRefusal([a!, { ...other, name: 'n2' }], 3)).toMatch(
        /^NATS servers n1 \(cluster c\) and n2 \((no cluster|cluster d)\) keep separate stores/,
      );
    expect(serversRefusal([single('2.9.10'), { ...single('2.9.10'), name: 'n2' }], 1)).toMatch(/keep separate stores/);
  });

  it('cannot be judged where nobody answered', () => {
    expect(serversRefusal([], 3)).toBeUndefined();
  });
});

describe('what a single server lacks', () => {
  it('is a version, or the sync where that could be asked', () => {
    expect(singleServerLack(single('2.9.10'), undefined)).toMatch(/^NATS 2\.9\.10 may lose .*2\.10\.23 or newer/);
    expect(singleServerLack(single('2.10.22'), true)).toMatch(/2\.10\.23/);
    expect(singleServerLack(single('2.10.23'), false)).toMatch(/sync_interval: always/);
    for (const sync of [true, undefined]) expect(singleServerLack(single('2.10.23'), sync)).toBeUndefined();
    expect(singleServerLack(three('2.14.3')[0]!, false)).toBeUndefined();
  });
});
