import { MusterError } from '#contracts/errors/errors.js';
import { packageVersion } from '#bus/system/package-version.js';
import type { Clock, Timer } from '#contracts/ports/clock.js';
import type { Random } from '#contracts/ports/random.js';
import type { PeerList } from '#contracts/wire/peers.js';
import type { Leaving } from '#contracts/wire/report.js';
import { readLifeQuestion } from '#contracts/wire/life-question.js';
import { Subjects } from '#contracts/names/subjects.js';
import { hostProbes } from '#probe/host-probes.js';
import type { AgentConfig } from './config/agent-config.js';
import type { AgentStatus } from './control/agent-status.js';
import { LocalRequests } from './control/local-requests.js';
import { StatusSocket } from './control/status-socket.js';
import { KeyRing } from './keys/key-ring.js';
import { PeerLifeProbes } from './life/peer-life-probes.js';
import { systemPing } from './life/system-ping.js';
import { reasonOf, type AgentLog } from './log/agent-log.js';
import { NatsLink, type NatsCredentials } from './nats/nats-link.js';
import { NatsLinks } from './nats/nats-links.js';
import { KnownPeers } from './peers/known-peers.js';
import { PeerCache } from './peers/peer-cache.js';
import { Refresher } from './peers/refresher.js';
import { parsePollRequest } from './poll/parse-poll-request.js';
import { Reporter } from './report/reporter.js';
import { WorkloadWatch } from './report/workload-watch.js';
import { Prober } from './prober.js';
import { DropCounters } from './wire/drop-counters.js';
import { PlainEcho } from './wire/plain-echo.js';
import { listByCommand, listRunning } from './workload/running.js';

/** ms for the last word to leave. */
const FAREWELL = 500;

export interface AgentParts {
  config: AgentConfig;
  /** Of the enrolment. */
  keys: Buffer[];
  credentials?: NatsCredentials;
  epoch: number;
  /** Why the next start may not know of this one. @default nothing */
  startWarning?: () => string | undefined;
  bootId: string;
  clock: Clock;
  random: Random;
  log: AgentLog;
}

/** One node's uptime daemon: runs the loop, and connects its probing, its reports and those who ask it. */
export class Agent {
  private readonly known: KnownPeers;
  private readonly keys: KeyRing;
  private readonly prober: Prober;
  private readonly reporter: Reporter;
  private readonly peerProbes: PeerLifeProbes;
  private readonly plain: PlainEcho | undefined;
  private readonly nats: NatsLinks;
  private readonly refresher: Refresher;
  private readonly workloads: WorkloadWatch;
  private readonly socket: StatusSocket;
  private timer: Timer | undefined;
  private stopped = false;
  private lastStep: number;

  constructor(private readonly p: AgentParts) {
    const { config, bootId, clock, epoch, keys, log, random } = p;
    const { lister, node } = config;
    const counters = new DropCounters();
    this.lastStep = clock.monotonicMs();
    this.known = new KnownPeers(Object.keys(config.networks).sort());
    this.keys = new KeyRing({
      cluster: config.cluster,
      enrolled: keys,
      stateDir: config.stateDir,
      changed: () => this.reporter.changed(),
      log,
    });
    this.prober = new Prober(
      {
        config,
        keys: this.keys,
        epoch,
        bootId,
        known: this.known,
        counters,
        onOtherList: () => this.refresher.refresh(),
        isLeaving: () => this.reporter.isLeaving,
        clock,
        random,
        log,
      },
      this.lastStep,
    );
    this.peerProbes = new PeerLifeProbes({
      node,
      known: this.known,
      probes: hostProbes(clock, systemPing(clock)),
      datagram: (peer, network) => this.prober.probeOf(peer, network),
      isLeaving: () => this.reporter.isLeaving,
      clock,
    });
    this.plain = config.plain && new PlainEcho(config.networks, config.plain.port, clock, log);
    this.nats = this.natsLinks();
    this.refresher = new Refresher({
      self: config,
      cache: new PeerCache(config.stateDir, config),
      ask: async (ms) => {
        const question = this.keys.question();
        return question.read(await this.nats.request(Subjects.peers(node), question.text, ms));
      },
      accept: (list) => this.accept(list),
      lacksKeys: (keys) => this.keys.lacks(keys),
      clock,
      random,
      log,
    });
    this.workloads = new WorkloadWatch(
      lister ? () => listByCommand(clock, lister) : () => listRunning(clock),
      () => this.reporter.changed(),
      clock,
      log,
    );
    this.reporter = new Reporter({
      config,
      bootId,
      epoch,
      known: this.known,
      prober: this.prober,
      counters,
      workloads: this.workloads,
      keys: this.keys,
      listWarning: () => this.refresher.warning,
      startWarning: () => p.startWarning?.(),
      publish: (report) => this.nats.publish(Subjects.report(node), JSON.stringify(report)),
      version: packageVersion(),
      wallMs: () => clock.wallMs(),
    });
    const local = new LocalRequests({
      node,
      bootId,
      ask: (subject, text, ms) => this.nats.request(subject, text, ms),
      status: () => this.status(clock.monotonicMs()),
      lookAtWorkloads: () => this.workloads.poll(),
    });
    this.socket = new StatusSocket(config.socket, (r) => local.answer(r), log);
  }

  /** Resolves when everything has begun; rejects when a port or the socket is taken. */
  async start(): Promise<void> {
    await this.keys.load();
    await this.socket.open();
    await this.prober.open();
    await this.plain?.open();
    // The list on disk first: it may name servers that this host's configuration does not know.
    await this.refresher.start();
    this.nats.start();
    this.workloads.poll();
    const { known, p } = this;
    this.lastStep = p.clock.monotonicMs();
    this.plan();
    p.log.info('agent started', { epoch: p.epoch, peers: known.shared.size, networks: known.networks });
  }

  /** Says that it goes, and why, then goes. */
  async stop(kind: Leaving['kind']): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    this.timer?.cancel();
    const saved = this.refresher.stop();
    this.workloads.stop();
    this.reporter.farewell({ kind, bootId: this.p.bootId }, this.p.clock.monotonicMs());
    await this.nats.flush(FAREWELL);
    this.prober.close();
    this.plain?.close();
    this.socket.close();
    await this.nats.close();
    await saved;
    await this.keys.settled();
    this.p.log.info('agent stopped', { kind });
  }

  private plan(): void {
    const { clock } = this.p;
    this.timer = clock.after(this.prober.untilNextStep(clock.monotonicMs()), this.onTime);
  }

  /** After the poll phase: an echo that is already in the buffer is read before its probe is judged. */
  private readonly onTime = (): void => this.p.clock.soon(this.onTurn);
  private readonly onTurn = (): void => this.step(this.p.clock.monotonicMs());

  private step(now: number): void {
    if (this.stopped) return;
    const gap = now - this.lastStep;
    this.lastStep = now;
    this.reporter.loopRan(gap);
    if (gap > this.known.detection.loopGap) {
      this.reporter.stoodStill();
      this.prober.stoodStill(gap, now);
      this.peerProbes.stoodStill();
    }
    this.prober.step(now);
    this.reporter.step(now);
    this.plan();
  }

  private natsLinks(): NatsLinks {
    const { config, credentials, clock, log, random } = this.p;
    const { node } = config;
    const ears = [
      { subject: Subjects.peersChanged(node), fn: () => this.onPeersChanged() },
      { subject: Subjects.poll(node), fn: (text: string, key: string) => this.answerPoll(text, key) },
      { subject: Subjects.life(node), fn: (text: string) => this.answerLife(text) },
    ];
    const onUp = (): void => this.onNats();
    return new NatsLinks(
      Object.entries(config.nats).map(
        ([network, servers]) =>
          new NatsLink({
            network,
            servers,
            node,
            ...(credentials && { credentials }),
            ears,
            onUp,
            clock,
            random,
            log,
          }),
      ),
    );
  }

  private accept(list: PeerList): void {
    this.nats.follow(list.nats);
    const moved = this.known.apply(list);
    this.prober.followList(list, moved, this.p.clock.monotonicMs());
    this.reporter.changed();
    this.p.log.info('peer list', { version: list.version, peers: this.known.shared.size });
  }

  private onNats(): void {
    this.reporter.changed();
    this.prober.rejoinLost('nats', this.p.clock.monotonicMs());
    this.refresher.refresh();
  }

  private onPeersChanged(): void {
    this.prober.rejoinLost('peer-list', this.p.clock.monotonicMs());
    this.refresher.refresh();
  }

  private async answerPoll(text: string, key: string): Promise<string> {
    try {
      return JSON.stringify(await this.prober.poll(parsePollRequest(text), key, this.p.clock.monotonicMs()));
    } catch (e) {
      return JSON.stringify(new MusterError('BAD_REQUEST', `the poll ${reasonOf(e)}`));
    }
  }

  private async answerLife(text: string): Promise<string> {
    const question = readLifeQuestion(text);
    return JSON.stringify(
      question ? await this.peerProbes.answer(question) : new MusterError('BAD_REQUEST', 'it is no question for life'),
    );
  }

  private status(now: number): AgentStatus {
    const { membership, sockets } = this.prober;
    return {
      ...this.reporter.current(now),
      list: this.known.list ?? null,
      nats: this.nats.connected(),
      sockets: [...sockets.values()].map(({ network, up, bufferBytes, lastError }) => ({
        network,
        up,
        bufferBytes,
        lastError: lastError ?? null,
      })),
      rejoin: {
        switches: membership.switches,
        lost: membership.lostPeers(),
        isolated: membership.isolated(),
        nextRunInMs: membership.nextRunIn(now) ?? null,
        happenings: membership.diary.happenings(),
      },
      ...(this.plain && { plainAnswered: this.plain.answered }),
    };
  }
}
