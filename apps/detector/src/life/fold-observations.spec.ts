import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import type { LifeSigns, NetworkLifeSigns, PingSign, PortSign, SshSign } from '#contracts';
import { foldObservations, type ObservedPlace } from './fold-observations.js';

const silent: LifeSigns = { ssh: 'silent', icmp: 'silent', port: 'silent', agentPort: 'silent' };
const untried: LifeSigns = { ssh: 'not-tried', icmp: 'not-tried', port: 'not-tried', agentPort: 'not-tried' };
const at = (address: string, o: Partial<LifeSigns> = {}): NetworkLifeSigns => ({ address, ...silent, ...o });
const places: Record<string, ObservedPlace> = {
  management: { address: '10.1.0.1', hearsOthers: true },
  backend: { address: '10.2.0.1', hearsOthers: true },
};

describe('what one observer has found over its networks', () => {
  const rows: [string, Partial<LifeSigns>, Record<string, NetworkLifeSigns>, Record<string, ObservedPlace>?][] = [
    ['silent over both: silent', silent, { management: at('10.1.0.1'), backend: at('10.2.0.1') }],
    [
      'a sign over one: a sign',
      { ssh: 'banner', icmp: 'reply' },
      { management: at('10.1.0.1', { icmp: 'reply' }), backend: at('10.2.0.1', { ssh: 'banner' }) },
    ],
    [
      'not tried over one: not tried',
      { ...silent, icmp: 'not-tried' },
      { management: at('10.1.0.1', { icmp: 'not-tried' }), backend: at('10.2.0.1') },
    ],
    ['nothing was said of one: not tried', untried, { management: at('10.1.0.1') }],
    ['silent at another address: not tried', untried, { management: at('10.1.0.1'), backend: at('10.2.0.9') }],
    [
      'a sign at another address is none of this node',
      untried,
      { management: at('10.1.0.1'), backend: at('10.2.0.9', { ssh: 'banner' }) },
    ],
    [
      'silent where it hears nobody else: not tried',
      untried,
      { management: at('10.1.0.1'), backend: at('10.2.0.1') },
      { ...places, backend: { address: '10.2.0.1', hearsOthers: false } },
    ],
    [
      'a sign where it hears nobody else: a sign',
      { ...untried, icmp: 'reply' },
      { management: at('10.1.0.1'), backend: at('10.2.0.1', { icmp: 'reply' }) },
      { ...places, backend: { address: '10.2.0.1', hearsOthers: false } },
    ],
    [
      'over a network that they do not share: nothing',
      silent,
      { management: at('10.1.0.1'), storage: at('10.3.0.1', { ssh: 'banner' }) },
      { management: places['management']! },
    ],
    ['nowhere to look: not tried', untried, {}, {}],
  ];
  it.each(rows.map((r) => ({ text: r[0], is: r[1], networks: r[2], places: r[3] ?? places })))('$text', (r) => {
    expect(foldObservations(r.networks, r.places)).toEqual({ ...silent, ...r.is });
  });

  it('is silence only of a channel that was silent over each network where it can look', () => {
    const look = fc.record({
      address: fc.constantFrom('10.1.0.1', '10.2.0.1'),
      ssh: fc.constantFrom<SshSign>('silent', 'silent', 'banner', 'accepted', 'refused', 'not-tried'),
      icmp: fc.constantFrom<PingSign>('silent', 'silent', 'reply', 'not-tried', 'cannot'),
      port: fc.constantFrom<PortSign>('silent', 'silent', 'unreachable', 'not-tried', 'cannot'),
      agentPort: fc.constantFrom<PortSign>('silent', 'silent', 'unreachable', 'not-tried', 'cannot'),
    });
    let silences = 0;
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('management', 'backend'), look),
        fc.boolean(),
        fc.boolean(),
        (networks, m, b) => {
          const where = {
            management: { address: '10.1.0.1', hearsOthers: m },
            backend: { address: '10.2.0.1', hearsOthers: b },
          };
          const found = foldObservations(networks, where);
          for (const channel of ['ssh', 'icmp', 'port', 'agentPort'] as const) {
            if (found[channel] !== 'silent') continue;
            silences++;
            for (const [network, { address, hearsOthers }] of Object.entries(where))
              expect([hearsOthers, networks[network]?.address, networks[network]?.[channel]]).toEqual([
                true,
                address,
                'silent',
              ]);
          }
        },
      ),
    );
    expect(silences).toBeGreaterThan(0);
  });
});
