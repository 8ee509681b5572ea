import { describe, expect, it } from 'vitest';
import type { IncomingHttpHeaders } from 'node:http';
import { OpenNetworks } from './open-networks.js';

const gateways = ['172.17.0.1', 'fd00:0000:0000:0000:0000:0000:0000:0001'];
const sut = new OpenNetworks({
  allowFrom: ['10.0.0.0/8', '192.0.2.7', 'fd00::/64', '::/1', '172.17.0.0/16'],
  gateways: () => gateways,
  trustProxy: ['10.9.0.0/24', '203.0.113.1'],
  ownNames: ['control1.example.org'],
});
const host = 'control1:9007';
const from = (peer: string | undefined, headers: IncomingHttpHeaders = {}, address = peer) =>
  sut.judge({ peer, address, headers: { host, ...headers } });

describe('an open network', () => {
  it.each(['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7', 'fd00::7', 'fd00::7%eth0', '::FFFF:a01:203'])(
    'has %s in it',
    (address) => expect(from(address)).toEqual({ admitted: true }),
  );

  it.each(['11.1.2.3', '::ffff:11.1.2.3', '192.0.2.8', 'fd00:0:0:1::7', '127.0.0.1', 'unknown', '10.1.2.3.4', ''])(
    'has not: %s',
    (address) => expect(from(address)).toEqual({ admitted: false }),
  );

  it('of IPv6 holds no address of IPv4, whatever its bits, and nobody without an address', () => {
    expect(from('200.1.2.3')).toEqual({ admitted: false });
    expect(from(undefined)).toEqual({ admitted: false });
  });
});

describe('a sender in an open network that needs a token all the same', () => {
  it.each(['172.17.0.1', '::ffff:172.17.0.1', 'fd00::1'])('is a router of this network: %s', (router) => {
    expect(from(router)).toEqual({ admitted: false, why: expect.stringContaining('router') });
    // Also where that is a proxy, and says for whom it asks.
    expect(from(router, { 'x-forwarded-for': '10.1.2.3' }, '10.1.2.3')).toMatchObject({ admitted: false });
  });

  it('is one that has become a router since, until it is none any more', () => {
    gateways.push('10.1.2.3');
    expect(from('10.1.2.3')).toEqual({ admitted: false, why: expect.stringContaining('router') });
    gateways.pop();
    expect(from('10.1.2.3')).toEqual({ admitted: true });
  });

  it('is anybody, where the routers cannot be told', () => {
    const blind = new OpenNetworks({
      allowFrom: ['10.0.0.0/8'],
      gateways: () => {
        throw new Error('no such file');
      },
      trustProxy: [],
      ownNames: [],
    });
    expect(blind.judge({ address: '10.1.2.3', peer: '10.1.2.3', headers: {} })).toEqual({
      admitted: false,
      why: 'the routers of this machine cannot be told',
    });
  });

  it.each([
    { 'x-forwarded-for': '10.1.2.3' },
    { 'x-forwarded-for': '' },
    { 'x-real-ip': '10.1.2.3' },
    { forwarded: 'for=10.1.2.3' },
    { via: '1.1 proxy' },
  ])('comes through a proxy that nobody has named: %j', (headers) => {
    expect(from('10.1.2.3', headers)).toEqual({ admitted: false, why: expect.stringContaining('http.trustProxy') });
  });

  it('is a proxy that does not say for whom it asks', () => {
    expect(from('10.9.0.1')).toEqual({ admitted: false, why: expect.stringContaining('for whom') });
    expect(from('203.0.113.1', { 'x-forwarded-for': '10.9.0.7' }, '10.9.0.7')).toMatchObject({ admitted: false });
    expect(from('10.9.0.1', { 'x-forwarded-for': '10.1.2.3' }, '10.1.2.3')).toEqual({ admitted: true });
  });

  it('may be a page in a browser', () => {
    const why = expect.stringContaining('page');
    for (const headers of [
      { origin: 'http://control1:9007' },
      { host: 'evil.example:9007' },
      { host: '10.0.0.1.evil.example' },
      // A blind GET, as an image of a page: no Origin, and an address in Host.
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { referer: 'https://evil.example/page' },
      { referer: 'http://control1:9008/' },
      { referer: 'no address' },
    ])
      expect(from('10.1.2.3', headers)).toEqual({ admitted: false, why });
    for (const own of ['10.0.0.1:9007', '[fd00::5]:9007', 'localhost', 'control1', 'Control1.Example.org:9007', ''])
      expect(from('10.1.2.3', { host: own })).toEqual({ admitted: true });
    for (const headers of [
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'same-origin', referer: `http://${host}/docs` },
    ])
      expect(from('10.1.2.3', headers)).toEqual({ admitted: true });
  });
});
