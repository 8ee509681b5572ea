import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ConnectionLimit } from './connection-limit.js';

const socket = (remoteAddress: string): Socket => Object.assign(new EventEmitter(), { remoteAddress }) as Socket;

describe('the limit of connections', () => {
  it('is one of each place, whose others may come, and one of all', () => {
    const sut = new ConnectionLimit({ most: 4, mostOfOne: 2 });
    const from = (address: string): string | undefined => sut.admit(socket(address));
    expect([from('10.0.0.7'), from('10.0.0.7'), from('10.0.0.7')]).toEqual([undefined, undefined, '10.0.0.7']);
    expect([from('10.0.0.8'), from('10.0.0.9'), from('10.0.0.10')]).toEqual([undefined, undefined, '10.0.0.10']);
  });

  it('counts a connection until it is closed, of its place and of all', () => {
    for (const limit of [
      { most: 1, mostOfOne: 9 },
      { most: 9, mostOfOne: 1 },
    ]) {
      const sut = new ConnectionLimit(limit);
      const first = socket('10.0.0.7');
      expect(sut.admit(first)).toBeUndefined();
      expect(sut.admit(socket('10.0.0.7'))).toBe('10.0.0.7');
      first.emit('close');
      expect(sut.admit(socket('10.0.0.7'))).toBeUndefined();
      expect(sut.admit(socket('10.0.0.7'))).toBe('10.0.0.7');
    }
  });

  it('does not take many that come through one place for one, and bounds them with all', () => {
    const sut = new ConnectionLimit({ most: 2, mostOfOne: 1 }, (source) => source === '127.0.0.1');
    const places = [1, 2, 3].map(() => sut.admit(socket('127.0.0.1')));
    expect(places).toEqual([undefined, undefined, '127.0.0.1']);
  });
});
