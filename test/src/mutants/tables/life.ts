import type { Mutant } from '../mutant.js';

const decider = {
  file: 'libs/domain/src/incident/life-signs.ts',
  specs: ['libs/domain/src/incident/life-signs.spec.ts'],
};
const living = {
  file: 'apps/detector/src/life/life-baseline.ts',
  specs: ['apps/detector/src/life/life-baseline.spec.ts'],
};
const signs = { file: 'apps/detector/src/probe/host-signs.ts', specs: ['apps/detector/src/probe/host-signs.spec.ts'] };

/** A host is dead only where everything by which it showed life is silent. */
export const life: readonly Mutant[] = [
  {
    name: 'a banner is no sign of life',
    ...decider,
    symbol: 'isAgentDown',
    operation: { operand: "l.ssh === 'banner'" },
  },
  {
    name: 'that nobody listens on the agent’s port is no sign of life',
    ...decider,
    symbol: 'isAgentDown',
    operation: { operand: "l.agentPort === 'unreachable'" },
  },
  {
    name: 'a kernel that answers ping is dead',
    ...decider,
    symbol: 'kernelAnswers',
    operation: { operand: "l.icmp === 'reply'" },
  },
  {
    name: 'a kernel that names its closed port is dead',
    ...decider,
    symbol: 'kernelAnswers',
    operation: { operand: "l.port === 'unreachable'" },
  },
  {
    name: 'a connection without a banner counts for nothing',
    ...decider,
    symbol: 'kernelAnswers',
    operation: { operand: "l.ssh === 'accepted'" },
  },
  {
    name: 'a connection that is refused counts for nothing',
    ...decider,
    symbol: 'kernelAnswers',
    operation: { operand: "l.ssh === 'refused'" },
  },
  {
    name: 'a host is hung although its agent’s port was not asked',
    ...decider,
    symbol: 'lifeSigns',
    operation: { operand: "heeded.every((l) => l.agentPort === 'silent')" },
  },
  {
    name: 'what was not tried is silent',
    ...decider,
    symbol: 'isOpen',
    operation: { operand: "[l.ssh, l.icmp, l.port, l.agentPort].includes('not-tried')" },
  },
  {
    name: 'what spoke and cannot be asked is silent',
    ...decider,
    symbol: 'isOpen',
    operation: { operand: "l.spoke.some((c) => found(l, c) === 'cannot')" },
  },
  {
    name: 'the silence of what never spoke is evidence',
    ...decider,
    symbol: 'lifeSigns',
    operation: { replace: 'l.spoke.length > 0', with: 'l.spoke.length >= 0' },
  },
  {
    name: 'one observer is enough where the agent was stopped',
    ...decider,
    symbol: 'WITNESSES',
    operation: { set: 'WITNESSES', to: '1' },
  },
  {
    name: 'an agent that was stopped is silent like any other',
    ...decider,
    symbol: 'lifeSigns',
    operation: {
      replace: "left === 'stop' && telling.length < WITNESSES",
      with: "left === 'poweroff' && telling.length < WITNESSES",
    },
  },
  {
    name: 'a host whose agent was stopped hangs when its kernel answers',
    ...decider,
    symbol: 'lifeSigns',
    operation: { replace: "answering.length > 0 && left === 'stop'", with: 'answering.length < 0' },
  },
  {
    name: 'who was asked and could not look finds it silent',
    ...decider,
    symbol: 'lifeSigns',
    operation: { replace: 'asked.filter((l) => !isOpen(l))', with: 'asked' },
  },
  {
    name: 'who was asked and could not look holds a power-off',
    ...decider,
    symbol: 'lifeSigns',
    operation: { replace: 'isOpen(own)', with: 'looks.some(isOpen)' },
  },
  {
    name: 'one that was asked is believed alone',
    ...decider,
    symbol: 'lifeSigns',
    operation: { replace: 'telling.length >= WITNESSES', with: 'telling.length > 0' },
  },
  {
    name: 'what only others have seen of a host is no sign of life',
    ...decider,
    symbol: 'lifeSigns',
    operation: { replace: 'own ? [own, ...asked] : asked', with: 'own ? [own] : []' },
  },
  {
    name: 'a hung host is confirmed down without force',
    file: 'libs/domain/src/incident/gates.ts',
    symbol: 'alive',
    operation: { replace: "'hung'", with: "'agent-down'" },
    specs: ['apps/inventory/src/incidents/confirm-alive.spec.ts'],
  },
  {
    name: 'a hung host is fenced at once',
    file: 'libs/domain/src/incident/gates.ts',
    symbol: 'HUNG_HOLD_MS',
    operation: { set: 'HUNG_HOLD_MS', to: '0' },
    specs: ['apps/inventory/src/incidents/gates.spec.ts'],
  },
  {
    name: 'a hung host is fenced against the policy',
    file: 'libs/domain/src/incident/gates.ts',
    symbol: 'life',
    operation: { replace: "f.settings?.fencing.hung === 'fence'", with: 'f.settings !== undefined' },
    specs: ['apps/inventory/src/incidents/gates.spec.ts'],
  },
  {
    name: 'a host that falls silent while it is looked at loses its channels',
    ...living,
    symbol: 'LifeBaseline.probe',
    operation: { operand: '!before.doubted' },
  },
  {
    name: 'a channel counts that spoke at another place',
    ...living,
    symbol: 'LifeBaseline.step',
    operation: { replace: 'this.known.get(name)?.place !== place', with: '!this.known.has(name)' },
  },
  {
    name: 'a sign of life is forgotten with the first answer that is lost',
    ...signs,
    symbol: 'SIGN_KEPT',
    operation: { set: 'SIGN_KEPT', to: '1' },
  },
  {
    name: 'the agent is there again when the kernel saves an answer',
    ...signs,
    symbol: 'HostSigns.read',
    operation: { operand: 'this.isAgentGone(now)' },
  },
  {
    name: 'an end that nobody knows is a stop of the agent alone',
    file: 'apps/agent/src/report/leaving.ts',
    symbol: 'leavingKind',
    operation: { operand: 'runs' },
    specs: ['apps/agent/src/config/agent-config.spec.ts'],
  },
  {
    name: 'an agent that was stopped has the grace of a reboot',
    file: 'apps/detector/src/verdicts/verdict.ts',
    symbol: 'graceOf',
    operation: { replace: "left === 'stop'", with: "left === 'poweroff'" },
    specs: ['apps/detector/src/verdicts/quorum.spec.ts'],
  },
];
