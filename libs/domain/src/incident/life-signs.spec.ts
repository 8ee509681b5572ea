import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { LifeChannels, type LifeObservation, type PingSign, type PortSign, type SshSign } from '#contracts';
import { lifeSigns, type HostLife, type LifeFacts } from './life-signs.js';

/** All three channels were seen to speak, and are silent. */
const anObservation = (o: Partial<LifeObservation> = {}): LifeObservation => ({
  by: 'detector-1',
  ssh: 'silent',
  icmp: 'silent',
  port: 'silent',
  agentPort: 'silent',
  spoke: ['ssh', 'icmp', 'port'],
  ...o,
});
/** Of a node that was asked. */
const asked = (n: number, o: Partial<LifeObservation> = {}): LifeObservation => anObservation({ by: `n-${n}`, ...o });
/** The first is the monitor's own. */
const state = ([own, ...asked]: LifeObservation[], o: Partial<LifeFacts> = {}): HostLife['state'] =>
  lifeSigns({ ...(own && { own }), asked, waived: false, ...o }).state;

describe('what the looks at a host say', () => {
  const rows: [string, HostLife['state'], LifeObservation[], Partial<LifeFacts>?][] = [
    ['nobody looked', 'unknown', []],
    ['every channel that spoke before is silent', 'dead', [anObservation()]],
    ['the only one that spoke before is silent', 'dead', [anObservation({ spoke: ['port'] })]],
    ['one that never spoke cannot be asked', 'dead', [anObservation({ icmp: 'cannot', spoke: ['ssh'] })]],
    ['ssh shows a banner', 'agent-down', [anObservation({ ssh: 'banner' })]],
    ['ssh shows a banner to one of two', 'agent-down', [anObservation(), anObservation({ by: 'n-2', ssh: 'banner' })]],
    ['nobody listens on its agent’s port', 'agent-down', [anObservation({ agentPort: 'unreachable' })]],
    [
      'nobody listens on its agent’s port, and ping is answered',
      'agent-down',
      [anObservation({ agentPort: 'unreachable', icmp: 'reply' })],
    ],
    ['ping is answered', 'hung', [anObservation({ icmp: 'reply' })]],
    ['the closed port is answered', 'hung', [anObservation({ port: 'unreachable' })]],
    ['a connection is taken without a banner', 'hung', [anObservation({ ssh: 'accepted' })]],
    ['a connection is refused', 'hung', [anObservation({ ssh: 'refused' })]],
    ['a channel speaks that never did', 'hung', [anObservation({ icmp: 'reply', spoke: [] })]],
    [
      'ping is answered, and its agent’s port was not asked',
      'unknown',
      [anObservation({ icmp: 'reply', agentPort: 'not-tried' })],
    ],
    ['ssh was not tried', 'unknown', [anObservation({ ssh: 'not-tried' })]],
    ['ping was not tried, although it never spoke', 'unknown', [anObservation({ icmp: 'not-tried', spoke: ['ssh'] })]],
    ['the agent’s port was not tried', 'unknown', [anObservation({ agentPort: 'not-tried' })]],
    ['what spoke before cannot be asked any more', 'unknown', [anObservation({ icmp: 'cannot' })]],
    ['nothing has ever spoken', 'weak', [anObservation({ spoke: [] })]],
    ['nothing has ever spoken, and that is waived', 'dead', [anObservation({ spoke: [] })], { waived: true }],
    [
      'its ssh answers, whatever is waived',
      'agent-down',
      [anObservation({ ssh: 'banner', spoke: [] })],
      { waived: true },
    ],
    ['its agent was stopped, and one looks', 'unwitnessed', [anObservation()], { left: 'stop' }],
    [
      'its agent was stopped, and two find it silent',
      'dead',
      [anObservation(), anObservation({ by: 'n-2' })],
      { left: 'stop' },
    ],
    [
      'its agent was stopped, and to the second it never spoke',
      'unwitnessed',
      [anObservation(), anObservation({ by: 'n-2', spoke: [] })],
      { left: 'stop' },
    ],
    [
      'its agent was stopped, and that is waived',
      'unwitnessed',
      [anObservation({ spoke: [] })],
      { left: 'stop', waived: true },
    ],
    ['its agent was stopped, and ping is answered', 'agent-down', [anObservation({ icmp: 'reply' })], { left: 'stop' }],
    [
      'its agent was stopped, and a connection is taken from one of two',
      'agent-down',
      [anObservation(), asked(2, { ssh: 'accepted' })],
      { left: 'stop' },
    ],
    [
      'its agent was stopped, and the second could not look whole',
      'unwitnessed',
      [anObservation(), asked(2, { ssh: 'not-tried' })],
      { left: 'stop' },
    ],
    [
      'its agent was stopped, the second cannot ask by what spoke to it, and the third finds it silent',
      'dead',
      [anObservation(), asked(2, { icmp: 'cannot' }), asked(3)],
      { left: 'stop' },
    ],
    [
      'its agent was stopped, and two find it silent to whom nothing of the monitor’s is open',
      'dead',
      [anObservation({ spoke: [] }), asked(2), asked(3)],
      { left: 'stop' },
    ],
    ['it went down as planned, and did not come back', 'dead', [anObservation()], { left: 'reboot' }],
    ['one who was asked could not look', 'dead', [anObservation(), asked(2, { ssh: 'not-tried', icmp: 'not-tried' })]],
    [
      'one who was asked could not look whole, and found a banner',
      'agent-down',
      [anObservation(), asked(2, { ssh: 'banner', icmp: 'not-tried' })],
    ],
    ['only one who was asked has its ping answered', 'unknown', [anObservation(), asked(2, { icmp: 'reply' })]],
    ['two who were asked have', 'hung', [anObservation(), asked(2, { icmp: 'reply' }), asked(3, { icmp: 'reply' })]],
    [
      'one who was asked has, and the monitor has no channel',
      'unknown',
      [anObservation({ spoke: [] }), asked(2, { icmp: 'reply' })],
    ],
    [
      'only one who was asked has its ping answered, and could not ask the agent',
      'unknown',
      [anObservation(), asked(2, { icmp: 'reply', agentPort: 'not-tried' })],
    ],
    [
      'the monitor has not looked, and others have',
      'unknown',
      [anObservation({ ssh: 'not-tried' }), asked(2), asked(3)],
    ],
    [
      'it never spoke to the monitor, and one who was asked finds it silent',
      'weak',
      [anObservation({ spoke: [] }), asked(2)],
    ],
    [
      'it never spoke to the monitor, and two who were asked find it silent',
      'dead',
      [anObservation({ spoke: [] }), asked(2), asked(3)],
    ],
    [
      'it never spoke to anybody',
      'weak',
      [anObservation({ spoke: [] }), asked(2, { spoke: [] }), asked(3, { spoke: [] })],
    ],
  ];
  it.each(rows.map((r) => ({ text: r[0], expected: r[1], observations: r[2], o: r[3] })))('$text: $expected', (r) => {
    expect(state(r.observations, r.o)).toBe(r.expected);
  });

  it('names how many find it silent, and who could not look', () => {
    const facts: LifeFacts = {
      own: anObservation(),
      asked: [asked(2, { icmp: 'not-tried' })],
      waived: false,
      left: 'stop',
    };
    expect(lifeSigns(facts).detail).toBe(
      'Its agent was stopped, so that its silence says nothing: 1 of 2 observers find silent what spoke to them before; n-2 could not look in every way.',
    );
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
      fc.property(fc.array(look, { maxLength: 4 }), fc.boolean(), fc.boolean(), (observations, waived, stopped) => {
        if (state(observations, { waived, ...(stopped && { left: 'stop' }) }) !== 'dead') return;
        deaths++;
        expect(observations.length).toBeGreaterThan(stopped ? 1 : 0);
        for (const l of observations) {
          expect(['banner', 'accepted', 'refused']).not.toContain(l.ssh);
          for (const sign of [l.icmp, l.port, l.agentPort]) expect(['reply', 'unreachable']).not.toContain(sign);
        }
        const [own] = observations;
        expect([own?.ssh, own?.icmp, own?.port, own?.agentPort]).not.toContain('not-tried');
        const witnesses = observations.filter(
          (l) =>
            l.spoke.length > 0 &&
            ![l.ssh, l.icmp, l.port, l.agentPort].includes('not-tried') &&
            !l.spoke.some((c) => (c === 'ssh' ? l.ssh : l[c]) === 'cannot'),
        );
        if (stopped) expect(witnesses.length).toBeGreaterThan(1);
        // One that may be broken, or broken into, is believed alone in nothing.
        else if (!waived && own?.spoke.length === 0) expect(witnesses.length).toBeGreaterThan(1);
        else if (!waived) expect(witnesses).toContain(own);
      }),
      { numRuns: 5_000 },
    );
    expect(deaths).toBeGreaterThan(10);
  });
});
