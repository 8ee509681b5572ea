import { expect, it } from 'vitest';
import { identityBasis, MusterError, Subjects, type FreshIdentity, type NodeRecord } from '#contracts';
import type { ServiceContext } from '#service';
import type { ConductorService } from '../conductor/conductor.service.js';
import { aDevice, aNode } from '../testing/records.js';
import { FreshIdentityService } from './fresh-identity.service.js';
import type { IdentityReads } from './identity-reads.js';

const GUID = '00112233445566778899aabbccddee01';
const device = aDevice();
const proven: NodeRecord = aNode('n-1', {
  powerLevels: [[device]],
  powerIdentity: {
    [device.id]: { result: 'proven', by: 'guid', at: 1, seen: { guid: GUID }, basis: identityBasis(device) },
  },
});
const reading = (ageMs: number): FreshIdentity => ({
  ageMs,
  devices: [{ id: device.id, basis: identityBasis(device), seen: { guid: GUID } }],
});

/** One inventory; the conductor is it, or another one that answers so. */
function inventory(o: { own?: FreshIdentity; conducts?: boolean; conductor?: () => Promise<unknown> } = {}) {
  const asked: string[] = [];
  const answers = new Map<string, (q: { node: string }) => Promise<unknown>>();
  const sut = new FreshIdentityService(
    {
      bus: {
        ask: (subject: string, q: { node: string }) => {
          asked.push(`${subject} ${q.node}`);
          return (o.conductor ?? (() => Promise.resolve({})))();
        },
      },
      log: { debug: () => undefined },
    } as unknown as ServiceContext,
    {
      held: o.conducts === true,
      answer: (subject: string, handle: (q: { node: string }) => Promise<unknown>) => answers.set(subject, handle),
    } as unknown as ConductorService,
    { recent: () => o.own } as unknown as IdentityReads,
  );
  return { sut, asked, answers };
}

it('is what this inventory has had read, or else the conductor, who asks the devices of the silent', async () => {
  const own = inventory({ own: reading(300) });
  expect(await own.sut.of(proven)).toEqual(reading(300));
  expect(own.asked).toEqual([]);
  const standby = inventory({ conductor: () => Promise.resolve({ identity: reading(900) }) });
  expect(await standby.sut.of(proven)).toEqual(reading(900));
  expect(standby.asked).toEqual([`${Subjects.conductorIdentity()} n-1`]);
});

it('is told to the others by the conductor', async () => {
  const told = (own?: FreshIdentity): Promise<unknown> | undefined =>
    inventory(own && { own }).answers.get(Subjects.conductorIdentity())?.({ node: 'n-1' });
  expect(await told(reading(5))).toEqual({ identity: reading(5) });
  expect(await told()).toEqual({});
});

it('is not there where nobody has had it read, no conductor answers, or nothing of the node was ever proven', async () => {
  const conducting = inventory({ conducts: true });
  expect(await conducting.sut.of(proven)).toBeUndefined();
  expect(conducting.asked).toEqual([]);
  const alone = inventory({ conductor: () => Promise.reject(new MusterError('TIMEOUT', 'no answer')) });
  expect(await alone.sut.of(proven)).toBeUndefined();
  const unproven = inventory({ own: reading(1) });
  expect(await unproven.sut.of(aNode('n-1', { powerLevels: [[device]] }))).toBeUndefined();
});
