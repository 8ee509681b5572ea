import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectBus, type Bus } from '#bus';
import { startTestNats, type TestNats } from '#bus/testing/nats.js';
import { defaultSettings, Subjects, type CurrentVerdictRequest, type Verdict } from '#contracts';
import { createLogger, ServiceContext } from '#service';
import { DetectorService } from './detector.service.js';
import { ownProbeNet } from './probe/own-probe-net.js';
import { CLUSTER, detectorConfig, register } from './testing/played-fleet.js';

type Answer = (q: CurrentVerdictRequest) => Verdict;

describe('the detector on the bus', () => {
  let nats: TestNats;
  let bus: Bus;
  let sut: DetectorService;

  beforeEach(async () => {
    nats = await startTestNats();
    bus = await connectBus({ name: 'spec', servers: [nats.url] });
    await register(bus, defaultSettings(CLUSTER), { 'red-1': { management: '127.0.0.1' } });
    const config = detectorConfig(nats);
    const context = new ServiceContext(config, bus, createLogger('detector', config), 'detector');
    sut = new DetectorService(context, ownProbeNet(context.clock));
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await sut?.onApplicationShutdown();
    await bus?.close();
    await nats?.stop();
  });

  /** Starts it; resolves with what answers a question, as soon as it leads. */
  const answer = (): Promise<Answer> =>
    new Promise((resolve) => {
      vi.spyOn(bus, 'answer').mockImplementation((subject, fn) => {
        if (subject === Subjects.currentVerdict()) resolve(fn as unknown as Answer);
        return { close: () => Promise.resolve() };
      });
      sut.onModuleInit();
    });

  it('does not answer as the monitor once its lease has ended, though nobody has told it so yet', async () => {
    const ask = await answer();
    expect(ask({ node: 'red-1' })).toMatchObject({ node: 'red-1', verdict: 'UNKNOWN' });
    // The process was stopped for a minute, and goes on with the question that it was about to answer.
    vi.spyOn(process.hrtime, 'bigint').mockReturnValue(process.hrtime.bigint() + 60_000_000_000n);
    expect(() => ask({ node: 'red-1' })).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }));
  });
});
