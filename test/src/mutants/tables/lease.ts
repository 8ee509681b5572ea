import type { Mutant } from '../mutant.js';

const DECIDED = ['libs/bus/src/lease/lease-decide.spec.ts'];
const REAL = ['libs/bus/src/lease/lease.spec.ts'];

/** Never two valid holders, and tokens never go back. */
export const lease: readonly Mutant[] = [
  {
    name: 'a new term has no higher token than those before it',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'decideLease',
    operation: { set: 'token', to: 's.seen.revision' },
    specs: DECIDED,
  },
  {
    name: 'tokens begin anew after their key was forgotten',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'written',
    operation: { replace: 'Math.max(a.record.token, revision)', with: 'a.record.token' },
    specs: REAL,
  },
  {
    name: 'a lease is taken over without any wait',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'takeoverAt',
    operation: { replace: 'seen.sinceNs + ns(Math.max(r.ttlMs, s.ttlMs) * TAKEOVER)', with: '0n' },
    specs: DECIDED,
    sims: ['hands'],
  },
  {
    name: 'a contender waits for its time to live and no longer',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'TAKEOVER',
    operation: { set: 'TAKEOVER', to: '1' },
    specs: DECIDED,
  },
  {
    name: 'a contender waits by its own time to live where the holder has a longer one',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'takeoverAt',
    operation: { replace: 'Math.max(r.ttlMs, s.ttlMs)', with: 's.ttlMs' },
    specs: DECIDED,
  },
  {
    name: 'a new revision of another holder does not begin the wait anew',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'read',
    operation: { replace: 's.seen?.revision === revision', with: 's.seen !== undefined' },
    specs: DECIDED,
  },
  {
    name: 'nothing is left for clocks that differ',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'VALID',
    operation: { set: 'VALID', to: '1' },
    specs: DECIDED,
  },
  {
    name: 'a renewal counts from the end of the term before it',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'decideLease',
    operation: {
      replace: "attempt(s, 'renew', s.term.revision, s.term.token, now)",
      with: "attempt(s, 'renew', s.term.revision, s.term.token, validUntil(s))",
    },
    specs: DECIDED,
  },
  {
    name: 'a write that is found by its nonce counts from when it was read',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'read',
    operation: {
      replace: 'written(s, found, revision)',
      with: 'written({ ...s, attempts: [(found.sentNs = now, found)] }, found, revision)',
    },
    specs: DECIDED,
  },
  {
    name: 'a renewal whose acknowledgement was lost is a loss of the lease',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'read',
    operation: { replace: 'a.record.nonce === entry?.value.nonce', with: 'false' },
    specs: DECIDED,
  },
  {
    name: 'an older write of unknown fate is forgotten as soon as the key was read',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'read',
    operation: { replace: 's.attempts.filter((a) => a.basis === revision)', with: '[]' },
    specs: DECIDED,
  },
  {
    name: 'a write that was not answered is repeated without a look',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'unanswered',
    operation: { set: 'doubt', to: 'false' },
    specs: DECIDED,
  },
  {
    name: 'the lease is held on although somebody else wrote',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'read',
    operation: { replace: 's.term.revision === revision', with: 'true' },
    specs: DECIDED,
  },
  {
    name: 'a term does not end by the clock',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'decideLease',
    operation: { drop: "if (s.term !== undefined && !isHeld(s, now)) return { do: 'lapse' }" },
    specs: DECIDED,
    sims: ['hands'],
  },
  {
    name: 'who once held it holds it until somebody says otherwise',
    file: 'libs/bus/src/lease/lease-decide.ts',
    symbol: 'isHeld',
    operation: { replace: 'now < validUntil(s)', with: 's.term !== undefined' },
    specs: DECIDED,
  },
  {
    name: 'a cluster whose server may acknowledge two holders is trusted',
    file: 'libs/bus/src/lease/lease-server.ts',
    symbol: 'leaseServerRefusal',
    operation: { replace: 'server?.cluster === undefined', with: 'server !== null' },
    specs: REAL,
  },
  {
    name: 'the floor of versions for a cluster is as low as that for one server',
    file: 'libs/bus/src/lease/lease-server.ts',
    symbol: 'CLUSTER_FLOOR',
    operation: { set: 'CLUSTER_FLOOR', to: '[2, 9]' },
    specs: REAL,
  },
  {
    name: 'it is not judged at its use whether the lease is still held',
    file: 'libs/bus/src/lease/lease.ts',
    symbol: 'Lease.held',
    operation: { replace: 'isHeld(this.state, this.nowNs)', with: 'this.announced !== undefined' },
    specs: REAL,
  },
  {
    name: 'who gives a lease up stays on record as its holder',
    file: 'libs/bus/src/lease/lease.ts',
    symbol: 'Lease.stop',
    operation: { set: 'holder', to: 'this.state.holder' },
    specs: REAL,
  },
];
