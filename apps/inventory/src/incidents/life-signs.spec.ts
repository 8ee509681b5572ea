import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LifeChannels, type LifeLook, type PingSign, type PortSign, type SshSign } from '#contracts';
import { lifeSigns, type HostLife, type LifeFacts } from './life-signs.js';

/** All three channels were seen to speak, and are silent. */
const aLook = (o: Partial<LifeLook> = {}): LifeLook => ({
  by: 'detector-1',
  ssh: 'silent',
  icmp: 'silent',
  port: 'silent',
  agentPort: 'silent',
  spoke: ['ssh', 'icmp', 'port'],
  ...o,
});
const state = (looks: LifeLook[], o: Partial<LifeFacts> = {}): HostLife['state'] =>
  lifeSigns({ looks, waived: false, ...o }).state;

describe('what the looks at a host say', () => {
  const rows: [string, HostLife['state'], LifeLook[], Partial<LifeFacts>?][] = [
    ['nobody looked', 'unknown', []],
    ['every channel that spoke before is silent', 'dead', [aLook()]],
    ['the only one that spoke before is silent', 'dead', [aLook({ spoke: ['port'] })]],
    ['one that never spoke cannot be asked', 'dead', [aLook({ icmp: 'cannot', spoke: ['ssh'] })]],
    ['ssh shows a banner', 'agent-down', [aLook({ ssh: 'banner' })]],
    ['ssh shows a banner to one of two', 'agent-down', [aLook(), aLook({ by: 'n-2', ssh: 'banner' })]],
    ['nobody listens on its agent’s port', 'agent-down', [aLook({ agentPort: 'unreachable' })]],
    [
      'nobody listens on its agent’s port, and ping is answered',
      'agent-down',
      [aLook({ agentPort: 'unreachable', icmp: 'reply' })],
    ],
    ['ping is answered', 'hung', [aLook({ icmp: 'reply' })]],
    ['the closed port is answered', 'hung', [aLook({ port: 'unreachable' })]],
    ['a connection is taken without a banner', 'hung', [aLook({ ssh: 'accepted' })]],
    ['a connection is refused', 'hung', [aLook({ ssh: 'refused' })]],
    ['a channel speaks that never did', 'hung', [aLook({ icmp: 'reply', spoke: [] })]],
    [
      'ping is answered, and its agent’s port was not asked',
      'unknown',
      [aLook({ icmp: 'reply', agentPort: 'not-tried' })],
    ],
    ['ssh was not tried', 'unknown', [aLook({ ssh: 'not-tried' })]],
    ['ping was not tried, although it never spoke', 'unknown', [aLook({ icmp: 'not-tried', spoke: ['ssh'] })]],
    ['the agent’s port was not tried', 'unknown', [aLook({ agentPort: 'not-tried' })]],
    ['what spoke before cannot be asked any more', 'unknown', [aLook({ icmp: 'cannot' })]],
    ['nothing has ever spoken', 'weak', [aLook({ spoke: [] })]],
    ['nothing has ever spoken, and that is waived', 'dead', [aLook({ spoke: [] })], { waived: true }],
    ['its ssh answers, whatever is waived', 'agent-down', [aLook({ ssh: 'banner', spoke: [] })], { waived: true }],
    ['its agent was stopped, and one looks', 'unwitnessed', [aLook()], { left: 'stop' }],
    ['its agent was stopped, and two find it silent', 'dead', [aLook(), aLook({ by: 'n-2' })], { left: 'stop' }],
    [
      'its agent was stopped, and to the second it never spoke',
      'unwitnessed',
      [aLook(), aLook({ by: 'n-2', spoke: [] })],
      { left: 'stop' },
    ],
    [
      'its agent was stopped, and that is waived',
      'unwitnessed',
      [aLook({ spoke: [] })],
      { left: 'stop', waived: true },
    ],
    ['it went down as planned, and did not come back', 'dead', [aLook()], { left: 'reboot' }],
  ];
  it.each(rows.map((r) => ({ text: r[0], expected: r[1], looks: r[2], o: r[3] })))('$text: $expected', (r) => {
    expect(state(r.looks, r.o)).toBe(r.expected);
  });

  it('is never death where any channel speaks to anybody, or where one that spoke is not known to be silent', () => {
    const ssh = fc.constantFrom<SshSign>(
      'silent',
      'silent',
      'silent',
      'banner',
      'accepted',
      'refused',
      'silent',
      'not-tried',
    );
    const icmp = fc.constantFrom<PingSign>('silent', 'silent', 'silent', 'reply', 'silent', 'not-tried', 'cannot');
    const port = fc.constantFrom<PortSign>(
      'silent',
      'silent',
      'silent',
      'unreachable',
      'silent',
      'not-tried',
      'cannot',
    );
    const look = fc.record({
      by: fc.constant('o'),
      ssh,
      icmp,
      port,
      agentPort: port,
      spoke: fc.subarray([...LifeChannels]),
    });
    let deaths = 0;
    fc.assert(
      fc.property(fc.array(look, { maxLength: 3 }), fc.boolean(), fc.boolean(), (looks, waived, stopped) => {
        if (state(looks, { waived, ...(stopped && { left: 'stop' }) }) !== 'dead') return;
        deaths++;
        expect(looks.length).toBeGreaterThan(stopped ? 1 : 0);
        for (const l of looks) {
          expect(['banner', 'accepted', 'refused', 'not-tried']).not.toContain(l.ssh);
          for (const sign of [l.icmp, l.port, l.agentPort])
            expect(['reply', 'unreachable', 'not-tried']).not.toContain(sign);
        }
        if (!waived) expect(looks.some((l) => l.spoke.length > 0)).toBe(true);
      }),
      { numRuns: 5_000 },
    );
    expect(deaths).toBeGreaterThan(10);
  });
});
