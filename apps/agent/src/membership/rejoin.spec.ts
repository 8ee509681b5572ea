import { afterEach, describe, expect, it } from 'vitest';
import type { AgentStatus } from '../control/agent-status.js';
import { AgentFleet } from '../testing/fleet.js';
import type { RejoinHappening } from './rejoin-diary.js';

const nobodyLost = (s: AgentStatus): boolean => s.rejoin.lost.length === 0;
const allHeard = (s: AgentStatus): boolean => s.peers.every(([, links]) => links.every(([, rtt]) => rtt >= 0));
const loses = (peer: string) => (s: AgentStatus) => s.rejoin.lost.includes(peer);

describe('the rejoin loop of real agents, with the control plane down all the time', () => {
  let fleet: AgentFleet;
  afterEach(() => fleet.stop());

  const outage = async (name: string): Promise<void> => {
    for (const n of fleet.agents.keys()) await fleet.until(n, allHeard);
    fleet.cut(name);
    for (const n of fleet.agents.keys()) if (n !== name) await fleet.until(n, loses(name));
    await fleet.until(name, (s) => s.rejoin.isolated);
  };

  const standstills = async (): Promise<number> => {
    const all = await Promise.all([...fleet.agents.keys()].map((n) => fleet.status(n)));
    return all.reduce((sum, { health }) => sum + (health.metrics?.standstills ?? 0), 0);
  };

  /** An outage of c and its end: what each agent has noted of it, or undefined where one stood still. */
  const outageAndEnd = async (): Promise<Map<string, RejoinHappening[]> | undefined> => {
    const [stood, at] = [await standstills(), Date.now()];
    await outage('c');
    // One that stood still meanwhile counts its misses anew.
    const reporting = await fleet.until('a', ({ peers }) =>
      peers.some(([peer, links]) => peer === 'c' && links.every(([misses, rtt]) => misses >= 4 && rtt === -1)),
    );
    expect(reporting.nats).toEqual([]);
    fleet.heal('c');
    const noted = new Map<string, RejoinHappening[]>();
    for (const name of fleet.agents.keys()) {
      const { rejoin, health } = await fleet.until(name, (s) => nobodyLost(s) && allHeard(s));
      noted.set(
        name,
        rejoin.happenings.filter((h) => h.at >= at),
      );
      const joined = rejoin.happenings.filter((h) => h.what === 'joined').length;
      expect(health.metrics?.rejoin).toMatchObject({ lostNow: 0, joined });
    }
    return (await standstills()) === stood ? noted : undefined;
  };

  it('takes back who was cut off, on both sides, and says why', async () => {
    fleet = await AgentFleet.create({ names: ['a', 'b', 'c'] });
    await fleet.startAll();
    // Who stood still takes back by itself whom it cannot call silent any longer: such a round says nothing.
    let noted: Map<string, RejoinHappening[]> | undefined;
    for (let rounds = 0; noted === undefined && rounds < 5; rounds++) noted = await outageAndEnd();
    for (const name of ['a', 'b', 'c']) {
      const joined = noted?.get(name)?.filter((h) => h.what === 'joined') ?? [];
      expect(joined.map((h) => h.peer).sort()).toEqual(name === 'c' ? ['a', 'b'] : ['c']);
      expect(joined.every((h) => ['timer', 'heard', 'link-up'].includes(h.why))).toBe(true);
    }
  });

  it('leaves a peer lost where the loop is switched off, although that one has come back and is heard', async () => {
    fleet = await AgentFleet.create({ names: ['a', 'b'] });
    await fleet.start('a');
    await fleet.start('b', { rejoin: { loop: false, lowRate: false } });
    await outage('b');
    fleet.heal('b');
    await fleet.until('a', (s) => nobodyLost(s) && allHeard(s));
    const heard = (s: AgentStatus): number => s.health.metrics?.received ?? 0;
    const before = heard(await fleet.status('b'));
    const { rejoin } = await fleet.until('b', (s) => heard(s) > before + 20);
    expect(rejoin).toMatchObject({ lost: ['a'], nextRunInMs: null });
    expect(rejoin.happenings.map((h) => h.what)).toEqual(['lost']);
  });
});
