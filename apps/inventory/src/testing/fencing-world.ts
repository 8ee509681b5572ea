import { identityBasis, MusterError, Subjects, type ErrorCode, type Verdict } from '#contracts';
import type { ServiceContext } from '#service';
import type { ConductorService } from '../conductor/conductor.service.js';
import type { TaskRun } from '../conductor/task.js';
import { IdentityReads } from '../identity/identity-reads.js';
import { PlanExecutor } from '../execute/plan-executor.js';
import { IncidentWriter } from '../execute/incident-writer.js';
import { IntentWriter } from '../execute/intent-writer.js';
import { GateFactsService } from '../incidents/gate-facts.js';
import { IncidentService } from '../incidents/incident.service.js';
import { Investigator } from '../incidents/investigator.js';
import { PermitService } from '../incidents/permit.service.js';
import { PowerEvidence } from '../incidents/power-evidence.js';
import { DegradedWatch } from '../nodes/degraded-watch.js';
import { NodeService } from '../nodes/node.service.js';
import { IncidentAges } from '../power/incident-ages.js';
import { AfterAnswer } from '../store/after-answer.js';
import type { AuditService } from '../store/audit.service.js';
import type { KnownNames } from '../store/known-names.js';
import type { FleetSource } from '../snapshot/fleet-source.js';
import { VerdictNow } from '../verdicts/verdict-now.js';
import { MemoryStore } from './memory-store.js';
import { fleetSource } from './planned.js';

type Answer = 'off' | 'on' | ErrorCode;

/** All that finds out about the dead, on a store in memory; the spec plays the detector and the fencers. */
export class FencingWorld {
  readonly store = new MemoryStore();
  /** What the detector answers; one that it has no word of, it does not answer about. */
  readonly verdicts = new Map<string, Verdict>();
  /** What the power devices of a node answer. @default on */
  readonly power = new Map<string, Answer>();
  /** How long whose they are stays unanswered: for ever, or with this code. @default answered */
  readonly identity = new Map<string, 'never' | ErrorCode>();
  /** What was asked of whom, in its order. */
  readonly asked: string[] = [];
  readonly failed: string[] = [];
  token = 1;
  readonly context: ServiceContext;
  readonly facts: GateFactsService;
  readonly permits: PermitService;
  readonly evidence: PowerEvidence;
  readonly reads: IdentityReads;
  readonly incidents: IncidentService;
  readonly degraded: DegradedWatch;
  readonly incidentAges: IncidentAges;
  readonly verdictNow: VerdictNow;
  private readonly fleets: FleetSource;
  readonly conductor = { wake: () => undefined } as unknown as ConductorService;

  constructor() {
    const { store } = this;
    const names = { of: (name: string) => [name] } as unknown as KnownNames;
    Object.assign(store.bus, {
      ask: async (subject: string, { node }: { node: string }) => this.detectorSays(subject, node),
      call: async (verb: string, { node }: { node: string }) => this.fencerSays(verb, node),
      serverInfo: { connectUrls: ['10.9.0.1:4222'] },
    });
    this.context = {
      clock: store.clock,
      bus: store.bus,
      log: store.bus.log,
      random: store.random,
      config: { nats: { servers: ['nats://10.9.0.1:4222'] } },
    } as unknown as ServiceContext;
    this.evidence = new PowerEvidence(this.context);
    this.reads = new IdentityReads(this.context, store.asStore, new NodeService(store.asStore));
    this.degraded = new DegradedWatch(store.asStore, store.detector);
    this.incidentAges = new IncidentAges(store.asStore);
    this.fleets = fleetSource(store, {
      ...{ incidentAges: this.incidentAges, degraded: this.degraded, identity: this.reads },
    });
    this.facts = new GateFactsService(...([this.context, store.asStore, this.evidence, names, this.fleets] as const));
    this.permits = new PermitService(store.asStore, this.facts);
    this.incidents = new IncidentService(store.asStore, {} as AuditService, new AfterAnswer(store.asStore));
    this.verdictNow = new VerdictNow(this.context);
  }

  /** What drives plans about the dead: they write incidents and permits, and nothing else. */
  planExecutor(): PlanExecutor {
    const { store, fleets } = this;
    const none = {} as never;
    const incidentWriter = new IncidentWriter(store.asStore, this.incidents, this.permits, fleets);
    const writer = new IntentWriter(
      ...([store.asStore, fleets, none, none, incidentWriter, none, none, none, none, none] as const),
    );
    const investigator = new Investigator(
      ...([store.asStore, this.verdictNow, this.facts, this.evidence, fleets, this.reads] as const),
      this.conductor,
    );
    return new PlanExecutor(store.asStore, fleets, writer, investigator);
  }

  /** The right of one run. */
  run(): TaskRun {
    return {
      token: this.token,
      now: this.store.clock.monotonicMs(),
      check: () => this.token,
      isolated: async (about, act) => {
        try {
          await act();
        } catch (e) {
          this.failed.push(`${JSON.stringify(about)} ${MusterError.from(e).message}`);
        }
      },
      every: async (_part, _pace, act) => {
        await act();
      },
    };
  }

  private async detectorSays(subject: string, node: string): Promise<Verdict> {
    this.asked.push(`${subject} ${node}`);
    const verdict = this.verdicts.get(node);
    if (subject !== Subjects.currentVerdict() || verdict === undefined)
      throw new MusterError('NO_RESPONDER', 'nobody answers');
    return Promise.resolve(verdict);
  }

  private async fencerSays(verb: string, node: string): Promise<unknown> {
    this.asked.push(`${verb} ${node}`);
    if (verb === 'fencer.power.read') {
      const power = this.power.get(node) ?? 'on';
      if (power !== 'on' && power !== 'off') throw new MusterError(power, 'not read');
      return Promise.resolve({ devices: [{ id: 'bmc', power }] });
    }
    const identity = this.identity.get(node);
    if (identity === 'never') return new Promise(() => undefined);
    if (identity !== undefined) throw new MusterError(identity, 'not read');
    const devices = this.store.nodes.content[node]?.powerLevels.flat() ?? [];
    const refused = devices.map((d) => ({ id: d.id, basis: identityBasis(d), code: 'BMC_REFUSED' }));
    return Promise.resolve({ devices: refused });
  }
}
