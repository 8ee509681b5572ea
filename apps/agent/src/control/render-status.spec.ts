import { describe, expect, it } from '@jest/globals';
import { DetectionProfiles } from '#contracts/settings.js';
import { allSwitchedOn } from '../membership/membership.js';
import type { AgentStatus } from './agent-status.js';
import { renderStatus } from './render-status.js';

const status: AgentStatus = {
  v: 1,
  node: 'web-1',
  bootId: 'boot-1',
  epoch: 12,
  seq: 340,
  listVersion: 7,
  networks: ['backend', 'management'],
  peers: [
    [
      'db-1',
      [
        [0, 412],
        [4, 300, 83],
      ],
    ],
    [
      'db-2',
      [
        [24, -1],
        [0, -1],
      ],
    ],
  ],
  health: {
    abstain: false,
    sendErrors: {},
    loopGapMs: 21,
    warnings: ['peer list: no answer'],
    metrics: {
      rssBytes: 52 * 1024 * 1024,
      cpuMs: 61_200,
      standstills: 2,
      sent: 100,
      received: 90,
      dropped: { mac: 3 },
      rejoin: { runs: { timer: 2, heard: 1 }, lost: 1, greeted: 4, joined: 0, lostNow: 1 },
    },
  },
  workloads: [{ name: 'shop', generation: 3 }],
  list: {
    version: 7,
    cluster: 'c',
    self: { name: 'web-1', networks: {} },
    peers: [
      { name: 'db-1', networks: { backend: '10.2.0.1', management: '10.1.0.1' } },
      { name: 'db-2', networks: { backend: '10.2.0.2' } },
    ],
    port: 7946,
    detection: DetectionProfiles.lan,
  },
  nats: ['management'],
  sockets: [
    { network: 'backend', up: false, bufferBytes: 0, lastError: 'EADDRNOTAVAIL' },
    { network: 'management', up: true, bufferBytes: 8_388_608, lastError: null },
  ],
  rejoin: {
    switches: { ...allSwitchedOn, timer: false },
    lost: ['db-2'],
    isolated: false,
    nextRunInMs: null,
    happenings: [{ at: 0, peer: 'db-2', what: 'lost', why: 'silent' }],
  },
};

describe('the status of an agent, for people', () => {
  it('says what is heard of whom, what was dropped, and what the rejoin loop did and why', () => {
    expect(renderStatus(status)).toBe(`web-1: epoch 12, boot boot-1, report 340
peer list: version 7, 2 peers, profile lan
NATS: connected over management
socket backend: not bound (EADDRNOTAVAIL)
socket management: bound, 8388608 bytes of buffer
health: good
  warning: peer list: no answer
datagrams: 100 sent, 90 received, dropped: 3 mac
process: 52 MB, 61.2 s of processor time, stood still 2 times
workloads: shop (generation 3)

PEER  STATE   BACKEND       MANAGEMENT
db-1  member  heard 0.4 ms  missing (4), 8.3 % lost
db-2  lost    silent (24)   not shared

rejoin: lost db-2
  runs: 2 by timer, 1 by heard; none by the timer
  since the start: 1 lost, 4 greeted, 0 joined
  switched off: timer
  1970-01-01T00:00:00.000Z  lost  db-2  silent
`);
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
