import type { Mutant } from '../mutant.js';

/** Nobody is unheard while the key of the datagrams is exchanged. */
export const keys: readonly Mutant[] = [
  {
    name: 'the next step is taken before all have come as far as this one',
    file: 'apps/inventory/src/plan/agents/key-rotation.ts',
    symbol: 'nextKeySet',
    operation: {
      replace: 'laggards(set, holders).length > 0',
      with: "(set.phase === 'sign' && laggards(set, holders).length > 0)",
    },
    specs: ['apps/inventory/src/plan/agents/key-rotation.spec.ts'],
  },
  {
    name: 'the old key is dropped before all sign with the new one',
    file: 'apps/inventory/src/plan/agents/key-rotation.ts',
    symbol: 'nextKeySet',
    operation: {
      replace: 'laggards(set, holders).length > 0',
      with: "(set.phase === 'spread' && laggards(set, holders).length > 0)",
    },
    specs: ['apps/inventory/src/plan/agents/key-rotation.spec.ts'],
  },
  {
    name: 'who accepts the new key counts as one that signs with it',
    file: 'apps/inventory/src/plan/agents/key-rotation.ts',
    symbol: 'isReady',
    operation: { replace: 'return has[0] === first', with: 'return has.includes(first)' },
    specs: ['apps/inventory/src/plan/agents/key-rotation.spec.ts'],
  },
  {
    name: 'a node that is heard is passed over',
    file: 'apps/inventory/src/plan/agents/key-rotation.ts',
    symbol: 'isWaitedFor',
    operation: { operand: 'h.heard' },
    specs: ['apps/inventory/src/plan/agents/key-rotation.spec.ts'],
  },
  {
    name: 'those that may be alive are passed over',
    file: 'apps/inventory/src/plan/agents/key-rotation.ts',
    symbol: 'passedOver',
    operation: { replace: '(h) => !h.heard', with: '() => true' },
    specs: [
      'apps/inventory/src/agents/key-rotation-rpc.spec.ts',
      'apps/inventory/src/plan/agents/key-rotation.spec.ts',
    ],
  },
  {
    name: 'while no monitor sees the fleet, nodes count as unheard',
    file: 'apps/inventory/src/plan/agents/key-holders.ts',
    symbol: 'keyHolders',
    operation: { operand: 'seen' },
    specs: ['apps/inventory/src/plan/agents/key-rotation.spec.ts'],
  },
  {
    name: 'a revocation in the second of muster init is forgotten when NATS starts again',
    file: 'libs/bus/src/init/revocation.ts',
    symbol: 'revoke',
    operation: { drop: 'await laterThan(newest.iat)' },
    specs: ['libs/bus/src/init/revocation.spec.ts'],
  },
  {
    name: 'an agent does not know that it lacks keys',
    file: 'apps/agent/src/keys/key-ring.ts',
    symbol: 'KeyRing.lacks',
    operation: { replace: 'set.version > this.inUse.version', with: 'set.version < 0' },
    specs: ['apps/agent/src/keys/key-ring.spec.ts'],
  },
  {
    name: 'an agent falls back to older keys',
    file: 'apps/agent/src/keys/key-ring.ts',
    symbol: 'KeyRing.save',
    operation: { drop: 'if (given.version <= this.inUse.version) return' },
    specs: ['apps/agent/src/keys/key-ring.spec.ts'],
  },
  {
    name: 'an agent says that it has keys that are not on its disk',
    file: 'apps/agent/src/keys/key-ring.ts',
    symbol: 'KeyRing.save',
    operation: [
      { replace: 'await writeDurably(this.file, `${JSON.stringify(stored)}\\n`)', with: 'this.use(given)' },
      { replace: 'this.use(given)', with: 'await writeDurably(this.file, `${JSON.stringify(stored)}\\n`)' },
    ],
    specs: ['apps/agent/src/keys/key-ring.spec.ts'],
  },
  {
    name: 'the silence after a probe by outdated keys is evidence',
    file: 'apps/detector/src/probe/echo-probe.ts',
    symbol: 'EchoProbe.giveUp',
    operation: { replace: 'asked.provable && !this.keys.outdated', with: 'asked.node' },
    specs: ['apps/detector/src/probe/own-probe.spec.ts'],
  },
];
