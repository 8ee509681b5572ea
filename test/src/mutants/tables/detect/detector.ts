import type { Mutant } from '../../mutant.js';

/** What the monitor asks by itself, and what it says of its own state. */
export const detector: readonly Mutant[] = [
  {
    name: 'what hundreds echo to the monitor in one moment is lost',
    file: 'apps/detector/src/probe/echo-probe.ts',
    symbol: 'EchoProbe.growBuffer',
    operation: { drop: 'socket.setRecvBufferSize(BUFFER_BYTES)' },
    specs: ['apps/detector/src/probe/own-probe.spec.ts'],
  },
  {
    name: 'an own probe whose echo cannot be proven was not answered',
    file: 'apps/detector/src/probe/fleet-keys.ts',
    symbol: 'FleetKeys.outdated',
    operation: { operand: '!this.ids.includes(theirs)' },
    specs: ['apps/detector/src/probe/fleet-keys.spec.ts'],
  },
  {
    name: 'an own probe that nobody accepts was not answered',
    file: 'apps/detector/src/probe/fleet-keys.ts',
    symbol: 'FleetKeys.outdated',
    operation: { operand: '!this.wanted.keys.includes(ours)' },
    specs: ['apps/detector/src/probe/fleet-keys.spec.ts'],
  },
  {
    name: 'a key that is given out and does not sign yet ends every DOWN',
    file: 'apps/detector/src/probe/fleet-keys.ts',
    symbol: 'FleetKeys.outdated',
    operation: {
      replace: 'if (this.wanted === undefined) return false',
      with: 'if (this.wanted === undefined) return false; if (this.isBehind) return true',
    },
    specs: ['apps/detector/src/probe/fleet-keys.spec.ts'],
  },
  {
    name: 'nobody is told that the monitor cannot prove its probes',
    file: 'apps/detector/src/conditions/condition-book.ts',
    symbol: 'ConditionBook.sample',
    operation: { row: '...keyConditions(keysOutdatedFor)' },
    specs: ['apps/detector/src/conditions/condition-book.spec.ts'],
  },
  {
    name: 'a link that is silent is not looked at',
    file: 'apps/detector/src/conditions/condition-book.ts',
    symbol: 'remarkedIn',
    operation: { operand: 'misses > 0' },
    specs: ['apps/detector/src/conditions/condition-book.spec.ts'],
  },
  {
    name: 'a link on which probes are lost is not looked at',
    file: 'apps/detector/src/conditions/condition-book.ts',
    symbol: 'remarkedIn',
    operation: { operand: 'lost > 0' },
    specs: ['apps/detector/src/conditions/condition-book.spec.ts'],
  },
  {
    name: 'a network that is out stands as a second one, and the BMC is not asked',
    file: 'libs/domain/src/incident/gates.ts',
    symbol: 'blind',
    operation: { set: 'out', to: '[]' },
    specs: ['apps/inventory/src/incidents/gates.spec.ts'],
  },
  {
    name: 'an echo that comes while nobody suspects its node is lost',
    file: 'apps/detector/src/probe/own-probe.ts',
    symbol: 'OwnProbes.onEcho',
    operation: {
      replace: 'if (echoed) this.signOf(node).echoedAt.set(network, this.clock.monotonicMs())',
      with: 'if (!echoed) this.signOf(node).echoedAt.set(network, this.clock.monotonicMs())',
    },
    specs: ['apps/detector/src/probe/own-probe.spec.ts'],
  },
  {
    name: 'the monitor’s probe believes the first silence',
    file: 'apps/detector/src/probe/own-probe.ts',
    symbol: 'OwnProbes.state',
    operation: { drop: "if (this.echoedWithin(run, now, freshness).length > 0) return 'echo'" },
    specs: ['apps/detector/src/probe/own-probe.spec.ts'],
  },
  {
    name: 'who is suspected again has lost its last sign of life',
    file: 'apps/detector/src/probe/own-probe.ts',
    symbol: 'OwnProbes.begin',
    operation: { row: '...this.signs.get(target.node)' },
    specs: ['apps/detector/src/probe/own-probe.spec.ts'],
  },
  {
    name: 'an ssh that could not be tried is silent',
    file: 'apps/detector/src/probe/own-probe.ts',
    symbol: 'OwnProbes.state',
    operation: { operand: 'run.host.sshIsKnown' },
    specs: ['apps/detector/src/probe/own-probe.spec.ts'],
  },
  {
    name: 'a monitor whose lease has ended answers who asks it',
    file: 'apps/detector/src/detector.service.ts',
    symbol: 'DetectorService.current',
    operation: { drop: 'this.lease.check()' },
    specs: ['apps/detector/src/detector.service.spec.ts'],
  },
  {
    name: 'a vote is lost unseen: an agent whose reports have stopped raises no alarm while others hear it',
    file: 'apps/detector/src/conditions/silent-agents.ts',
    symbol: 'silentAgents',
    operation: { replace: 'lasting(before, passed)', with: '0' },
    specs: ['apps/detector/src/conditions/silent-agents.spec.ts'],
  },
];
