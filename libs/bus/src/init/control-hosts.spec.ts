import { describe, expect, it } from 'vitest';
import { parseControlHosts } from './control-hosts.js';

const three = 'ctl1=10.0.0.1,ctl2=10.0.0.2,ctl3=10.0.0.3';

describe('control hosts in a command line', () => {
  it('are names with an address on one network, or on two', () => {
    expect(parseControlHosts('ctl1=10.0.0.1')).toEqual([{ name: 'ctl1', management: '10.0.0.1' }]);
    expect(parseControlHosts('a.example=2001:db8::1+10.1.0.1, b=10.0.0.2+10.1.0.2,c=10.0.0.3+10.1.0.3')).toEqual([
      { name: 'a.example', management: '2001:db8::1', backend: '10.1.0.1' },
      { name: 'b', management: '10.0.0.2', backend: '10.1.0.2' },
      { name: 'c', management: '10.0.0.3', backend: '10.1.0.3' },
    ]);
  });

  it.each([
    [
      'a=10.0.0.1,b=10.0.0.2',
      /^2 control hosts are no safer than 1: .* so 2 may lose 0 of them, as 1 may; name 1 or 3$/,
    ],
    [`${three},d=10.0.0.4`, /^4 control hosts are no safer than 3: .* 4 may lose 1 of them, as 3 may; name 3 or 5$/],
    [`${three},d=10.0.0.4,e=10.0.0.5,f=10.0.0.6,g=10.0.0.7`, /^7 control hosts: NATS keeps 5 copies/],
    ['', /"" is no control host: NAME=ADDRESS/],
    ['ctl1', /"ctl1" is no control host/],
    ['ctl1=10.0.0.1+', /is no control host/],
    ['-a=10.0.0.1', /"-a" cannot name a control host/],
    ['../a=10.0.0.1', /"..\/a" cannot name/],
    ['a=host.example', /a: "host.example" is no IP address/],
    ['a=10.0.0.1:4222', /a: "10.0.0.1:4222" is no IP address/],
    ['a=10.0.0.1+10.1.0.256', /a: "10.1.0.256" is no IP address/],
    ['a=0.0.0.0', /"0.0.0.0" is no address by which other machines reach one machine/],
    ['a=::', /"::" is no address by which/],
    ['a=fe80::1', /"fe80::1" is no address by which/],
    ['a=224.0.0.1', /"224.0.0.1" is no address by which/],
    ['ctl1=10.0.0.1,CTL1=10.0.0.2,c=10.0.0.3', /^two control hosts cannot have the name CTL1$/],
    ['a=10.0.0.1,b=10.0.0.2,c=10.0.0.1', /^two control hosts cannot have the address 10.0.0.1$/],
    ['a=2001:db8::1,b=10.0.0.2,c=2001:DB8:0::1', /^two control hosts cannot have the address 2001:DB8:0::1$/],
    ['a=10.0.0.1+10.0.0.1', /^two control hosts cannot have the address 10.0.0.1$/],
    ['a=10.0.0.1+10.1.0.1,b=10.0.0.2,c=10.0.0.3', /^b, c: each control host needs an address on the backend network/],
  ])('are refused with the reason: %s', (text, why) => {
    expect(() => parseControlHosts(text)).toThrow(why);
  });
});
