import { describe, expect, it } from 'vitest';
import { allSwitchedOn } from '../membership/membership.js';
import { goodPeerList, goodReport } from '../testing/spoiled-input.js';
import type { AgentStatus } from './agent-status.js';
import { renderStatus } from './render-status.js';

const { leaving: _leaving, ...report } = goodReport;

/** Two peers, of which one shares only a network. */
const status: AgentStatus = {
  ...report,
  keys: ['1f3a9c2e', '77aa01bc'],
  health: { ...report.health, abstain: false, sendErrors: {} },
  workloads: [{ name: 'shop', generation: 3 }],
  list: {
    ...goodPeerList,
    peers: [
      { name: 'b', networks: { backend: '10.2.0.2', management: '10.1.0.2' } },
      { name: 'd', networks: { backend: '10.2.0.3' } },
    ],
  },
  nats: ['management'],
  sockets: [
    { network: 'backend', up: false, bufferBytes: 0, lastError: 'EADDRNOTAVAIL' },
    { network: 'management', up: true, bufferBytes: 8_388_608, lastError: null },
  ],
  rejoin: {
    switches: { ...allSwitchedOn, timer: false },
    lost: ['d'],
    isolated: false,
    nextRunInMs: null,
    happenings: [{ at: 0, peer: 'd', what: 'lost', why: 'silent' }],
  },
};

describe('the status of an agent, for people', () => {
  it('says what is heard of whom, what was dropped, and what the rejoin loop did and why', () => {
    expect(renderStatus(status)).toBe(`a: epoch 12, boot boot-1, report 340
peer list: version 7, 2 peers, profile lan
datagram keys: signs with 1f3a9c2e, accepts 77aa01bc too
NATS: connected over management
socket backend: not bound (EADDRNOTAVAIL)
socket management: bound, 8388608 bytes of buffer
health: good
  warning: peer list: no answer
datagrams: 100 sent, 90 received, dropped: 3 mac
process: 52 MB, 61.2 s of processor time, stood still 2 times
workloads: shop (generation 3)

PEER  STATE   BACKEND       MANAGEMENT
b     member  heard 0.4 ms  missing (4), 8.3 % lost
d     lost    silent (24)   not shared

rejoin: lost d
  runs: 2 by timer, 1 by heard; none by the timer
  since the start: 1 lost, 4 rejoin attempts, 0 rejoined
  switched off: timer
  1970-01-01T00:00:00.000Z  lost  d  silent
`);
  });

  it('says where nothing can be sent, to whom, since when and why: a socket that is bound is no sign that anything leaves', () => {
    const unsent = { peers: ['b'], probes: 7200, forMs: 3_600_000, error: 'send ENETUNREACH 10.2.0.2:7946' };
    const failing = (backend: number): string =>
      renderStatus({
        ...status,
        health: { ...status.health, sendErrors: { backend }, unsent: { backend: unsent } },
      });
    expect(failing(0)).toContain(`health: cannot send everywhere
  cannot send to b on backend: send ENETUNREACH 10.2.0.2:7946; 7200 probes in a row, for 3600.0 s
`);
    expect(failing(0)).toMatch(/^b +member +cannot send +missing/m);
    expect(failing(14_400)).toContain('cannot send to anybody on backend');
  });

  it('speaks of an agent that knows nothing yet', () => {
    const { workloads: _w, ...bare } = status;
    const text = renderStatus({
      ...bare,
      peers: [],
      list: null,
      nats: [],
      health: { abstain: true, reason: 'its loop stood still', sendErrors: {}, loopGapMs: 400 },
      rejoin: { switches: allSwitchedOn, lost: [], isolated: false, nextRunInMs: 4_321, happenings: [] },
    });
    expect(text).toContain('peer list: none yet');
    expect(text).toContain('NATS: not connected');
    expect(text).toContain('health: abstains, its loop stood still');
    expect(text).toContain('workloads: not known');
    expect(text).toContain('nobody is lost');
    expect(text).toContain('the next by the timer in 4.3 s');
  });
});
