import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBus, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import {
  DetectionProfiles,
  defaultSettings,
  fromToken,
  Subjects,
  WatchPlan,
  type PollAnswer,
  type PollRequest,
  type Report,
  type Verdict,
} from '#contracts';
import { startService, type RunningService } from '#service';
import { DetectorModule } from '../detector.module.js';
import { CLUSTER, detectorConfig, register } from '../testing/played-fleet.js';

const n = DetectionProfiles.lan;
const NAMES = Array.from({ length: 34 }, (_, i) => `n-${i}`);
const DEAD = 'n-0';
const NETWORK = 'management';
const plan = new WatchPlan(NAMES.map((name) => ({ name, member: true })));
const WATCHING = new Set(plan.observersOf(DEAD));

/** The detector on a real server; the spec plays 34 agents, of which one is dead. */
describe('a suspect in a fleet where not everybody watches everybody', () => {
  let nats: TestNats;
  let bus: Bus;
  let detector: RunningService;
  let timer: NodeJS.Timeout;
  let seq = 0;
  let isDead = false;
  /** Those who are asked and hear the dead one all the same. */
  let hearing: readonly string[] = NAMES;
  const asked = new Set<string>();
  const verdicts: Verdict[] = [];
  let told: () => void = () => undefined;

  const report = (node: string): Report => ({
    v: 1,
    node,
    bootId: 'boot',
    epoch: 1,
    seq,
    listVersion: 1,
    networks: [NETWORK],
    peers: plan.peersOf(node).map((p) => [p, [isDead && p === DEAD ? [n.misses, -1] : [0, 200]]]),
    health: { abstain: false, sendErrors: {}, loopGapMs: 1 },
  });
  const reportAll = (): void => {
    seq++;
    for (const node of NAMES) if (!isDead || node !== DEAD) bus.publish(Subjects.report(node), report(node));
  };
  const answer = ({ targets }: PollRequest, subject: string): PollAnswer => {
    const node = fromToken(subject.split('.').at(-1) as string);
    asked.add(node);
    const answered = hearing.includes(node) ? 1 : 0;
    return {
      node,
      epoch: 1,
      abstain: false,
      targets: targets.map((t) => ({ name: t.name, networks: { [NETWORK]: { sent: 3, answered } } })),
    };
  };
  const until = async (is: () => boolean): Promise<void> => {
    while (!is()) await new Promise<void>((resolve) => (told = resolve));
  };
  const last = (): Verdict | undefined => verdicts.findLast((v) => v.node === DEAD);
  const now = (): Promise<Verdict> => bus.ask<Verdict>(Subjects.currentVerdict(), { node: DEAD });

  beforeAll(async () => {
    nats = await startTestNats();
    bus = await connectBus({ name: 'spec', servers: [nats.url] });
    // Nothing listens at the agents' port.
    const settings = { ...defaultSettings(CLUSTER), agentPort: 1 };
    await register(bus, settings, Object.fromEntries(NAMES.map((name) => [name, { [NETWORK]: '127.0.0.1' }])));
    bus.answer<PollRequest, PollAnswer>(Subjects.poll('*'), answer);
    bus.follow(['muster.verdict.>'], {}, (_subject, value) => {
      verdicts.push(value as Verdict);
      told();
    });
    detector = await startService('detector', DetectorModule, { config: detectorConfig(nats) });
    timer = setInterval(reportAll, 400);
    await until(() => NAMES.every((name) => verdicts.findLast((v) => v.node === name)?.verdict === 'UP'));
  });

  afterAll(async () => {
    clearInterval(timer);
    await detector?.close();
    await bus?.close();
    await nats?.stop();
  });

  it('is asked about at everybody who does not watch it, and stays suspect while half of them hear it', async () => {
    expect(asked.size).toBe(0);
    // Of 33 polled 16 watch it, and report it down; 17 are asked.
    isDead = true;
    await until(() => last()?.verdict === 'SUSPECT');
    let v = await now();
    for (; v.evidence.observers.filter((o) => o.polled && o.stance === 'hears').length < 17; v = await now())
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect([...asked].sort()).toEqual(NAMES.filter((o) => o !== DEAD && !WATCHING.has(o)).sort());
    expect(v).toMatchObject({ verdict: 'SUSPECT', evidence: { assigned: 33, accusers: 16 } });
    expect(verdicts.some((x) => x.verdict === 'DOWN')).toBe(false);
  });

  it('is DOWN once more than half of the polled report it down, while one still hears it, and no other is', async () => {
    const one = NAMES.find((o) => o !== DEAD && !WATCHING.has(o)) as string;
    hearing = [one];
    await until(() => last()?.verdict === 'DOWN');
    // The verdict falls with the answer that makes the majority; the others come with it.
    let { evidence } = await now();
    for (; evidence.accusers < 32; { evidence } = await now()) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(evidence).toMatchObject({ assigned: 33, accusers: 32 });
    expect(evidence.observers.filter((o) => o.stance === 'hears').map((o) => o.observer)).toEqual([one]);
    const by = (polled: boolean): number =>
      new Set(evidence.observers.filter((o) => (o.polled === true) === polled).map((o) => o.observer)).size;
    expect([by(false), by(true)]).toEqual([16, 17]);
    expect(new Set(verdicts.filter((v) => v.verdict === 'DOWN').map((v) => v.node))).toEqual(new Set([DEAD]));
  });

  it('is nobody’s question any more when it is back', async () => {
    isDead = false;
    await until(() => last()?.verdict === 'UP');
    // Those who were asked have answered by now; nobody is asked anew.
    asked.clear();
    const before = seq;
    while (seq < before + 4) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(asked.size).toBe(0);
  });
});
