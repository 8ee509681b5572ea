import { isIP } from 'node:net';
import { decodeDatagram, peerId, type DatagramKeys } from '#contracts/wire/datagram.js';
import { POLL_TARGETS } from '#contracts/wire/poll.js';
import { parseReport } from '#contracts/wire/report.js';
import { DetectionProfiles, silenceTimeout } from '#contracts/settings/settings.js';
import { parsePeerList } from '../peers/parse-peer-list.js';
import { parsePollRequest } from '../poll/parse-poll-request.js';
import { Datagrams } from '../wire/datagrams.js';
import { DropCounters } from '../wire/drop-counters.js';
import { goodPeerList, goodPoll, goodReport, Spoiler } from './spoiled-input.js';

const KEYS: DatagramKeys = { cluster: 'c', keys: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] };
const FOREIGN: DatagramKeys = { cluster: 'c', keys: [Buffer.alloc(32, 3)] };
const ELSEWHERE: DatagramKeys = { ...KEYS, cluster: 'd' };

/** Throws where a bad input was believed, or did harm. */
function must(holds: boolean, what: string, input: string | Buffer): void {
  if (holds) return;
  const shown = typeof input === 'string' ? input.slice(0, 2000) : input.toString('hex');
  throw new Error(`${what}: ${shown}`);
}

const isCount = (x: unknown): boolean => Number.isSafeInteger(x) && (x as number) >= 0;
const isText = (x: unknown): boolean => typeof x === 'string' && x !== '';
const isMap = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);

/** One datagram, told to an agent called `a` that knows `b`, awaits nothing and polls nobody. */
export class DatagramFuzz {
  private readonly counters = new DropCounters();
  private readonly sut = new Datagrams(
    { name: 'a', epoch: 1, boot: 1, listVersion: () => 7 },
    ['backend', 'management'],
    KEYS,
    this.counters,
  );
  private answers = 0;

  constructor(private readonly spoil: Spoiler) {
    this.sut.know(['b']);
  }

  run(): void {
    const { spoil } = this;
    const good = spoil.datagram({}, spoil.one([KEYS, FOREIGN, ELSEWHERE]));
    const bad = spoil.one([
      () => spoil.anyBytes(64),
      () => spoil.spoiledBytes(good),
      () => spoil.datagram({}, FOREIGN),
      () => spoil.datagram({}, ELSEWHERE),
    ])();
    must(typeof decodeDatagram(bad, KEYS) === 'string', 'was decoded', bad);
    const heard = this.sut.receive(bad, 'management', 0, () => this.answers++);
    must(heard === undefined && this.answers === 0, 'was believed or answered', bad);
    const ours = spoil.datagram({ from: peerId(spoil.one(['a', 'x'])), to: peerId(spoil.one(['b', 'x'])) }, KEYS);
    must(this.sut.receive(ours, 'management', 0, () => this.answers++) === undefined, 'was believed', ours);
    must(this.answers === 0, 'was answered', ours);
    must(Object.keys(this.counters.dropped).length <= 12, 'made a new reason', bad);
  }
}

/** A text that was a good peer list: what is taken all the same has every property that the agent relies on. */
export function fuzzPeerList(spoil: Spoiler): boolean {
  const text = spoil.spoiledJson(goodPeerList);
  let list;
  try {
    list = parsePeerList(text, { node: 'a', cluster: 'c' });
  } catch (e) {
    must(e instanceof Error && !(e instanceof TypeError), `failed with ${String(e)}`, text);
    return false;
  }
  must(list.cluster === 'c' && list.self.name === 'a', 'is not for us', text);
  must(isCount(list.version), 'has no version', text);
  must(isCount(list.port) && list.port >= 1 && list.port <= 65_535, 'has no port', text);
  const { profile: _profile, ...numbers } = DetectionProfiles.lan;
  must(
    Object.keys(numbers).every(
      (k) => isCount(list.detection[k as keyof typeof numbers]) && list.detection[k as keyof typeof numbers] > 0,
    ),
    'has bad numbers',
    text,
  );
  must(
    list.detection.freshness <= silenceTimeout(list.detection) - list.detection.interval,
    'lets a stale report say that a node is down',
    text,
  );
  const names = list.peers.map((p) => p.name);
  must(names.every(isText) && new Set(names).size === names.length && !names.includes('a'), 'names', text);
  must(
    list.peers.every((p) => Object.values(p.networks).every((x) => isIP(x) !== 0)),
    'has an address that is none',
    text,
  );
  return true;
}

export function fuzzPoll(spoil: Spoiler): boolean {
  const text = spoil.spoiledJson(goodPoll);
  let request;
  try {
    request = parsePollRequest(text);
  } catch (e) {
    must(e instanceof Error && !(e instanceof TypeError), `failed with ${String(e)}`, text);
    return false;
  }
  must(request.port >= 1 && request.port <= 65_535 && request.targets.length <= POLL_TARGETS, 'port or size', text);
  for (const { name, networks } of request.targets)
    must(isText(name) && Object.values(networks).every((x) => isIP(x) !== 0), 'target', text);
  return true;
}

export function fuzzReport(spoil: Spoiler): boolean {
  const text = spoil.spoiledJson(goodReport);
  const r = parseReport(text);
  if (r === undefined) return false;
  must(isText(r.node) && isText(r.bootId), 'has no name', text);
  must([r.epoch, r.seq, r.listVersion].every(isCount), 'has no number', text);
  must(new Set(r.networks).size === r.networks.length, 'names a network twice', text);
  must(new Set(r.peers.map(([peer]) => peer)).size === r.peers.length, 'speaks twice of one peer', text);
  for (const [peer, links] of r.peers) {
    must(isText(peer) && links.length === r.networks.length, 'peer', text);
    for (const [misses, rtt, lost = 0] of links)
      must(isCount(misses) && Number.isFinite(rtt) && isCount(lost) && lost <= 1000, 'link', text);
  }
  const { health: h } = r;
  must(typeof h.abstain === 'boolean' && Number.isFinite(h.loopGapMs), 'health', text);
  must(h.reason === undefined || typeof h.reason === 'string', 'reason', text);
  must(isMap(h.sendErrors) && Object.values(h.sendErrors).every(isCount), 'send errors', text);
  must(
    (h.warnings ?? []).every((w) => isText(w) && w.length <= 1024),
    'warnings',
    text,
  );
  if (h.metrics) {
    const { dropped, rejoin, ...counts } = h.metrics;
    must(isMap(dropped) && Object.values(dropped).every(isCount), 'dropped', text);
    must(
      [counts.rssBytes, counts.cpuMs, counts.standstills, counts.sent, counts.received].every(isCount),
      'metrics',
      text,
    );
    must(isMap(rejoin.runs) && Object.values(rejoin.runs).every(isCount), 'runs', text);
    must([rejoin.lost, rejoin.greeted, rejoin.joined, rejoin.lostNow].every(isCount), 'rejoin', text);
  }
  must(
    (r.workloads ?? []).every((w) => isText(w.name) && isCount(w.generation)),
    'workloads',
    text,
  );
  must(!r.leaving || ['reboot', 'poweroff', 'stop'].includes(r.leaving.kind), 'leaving', text);
  return true;
}
