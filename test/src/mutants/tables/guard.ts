import type { Mutant } from '../mutant.js';

const SPECS = ['libs/bus/src/guard/guard.spec.ts'];
/** The process between a service and its command. */
const GUARD = { file: 'libs/bus/src/guard/guard-main.ts', built: true, specs: SPECS } as const;
/** Its side in the service. */
const SERVICE = { file: 'libs/bus/src/guard/guard.ts', built: true, specs: SPECS } as const;

/** A command ends with the right to it: at its deadline, with its service, and with all that it has started. */
export const guard: readonly Mutant[] = [
  {
    ...GUARD,
    name: 'a command goes on past its deadline',
    symbol: 'watchDeadline',
    operation: { drop: 'killGroup();' },
    test: 'kills at the deadline while the parent is stopped',
  },
  {
    ...GUARD,
    name: 'the deadline of a command is looked at as it starts, and never again',
    symbol: 'watchDeadline',
    operation: { drop: 'setTimeout(watchDeadline, Math.min(leftMs, 60_000));' },
    test: 'kills at the deadline while the parent is stopped',
  },
  {
    ...GUARD,
    name: 'nobody watches the deadline of a command that was started',
    symbol: 'start',
    operation: { drop: 'watchDeadline();' },
    test: 'kills at the deadline while the parent is stopped',
  },
  {
    ...GUARD,
    name: 'a command that ends at its deadline is said to have ended by itself',
    symbol: 'watchDeadline',
    operation: { drop: 'timedOut = true;' },
    test: 'kills the whole group at the deadline',
  },
  {
    ...GUARD,
    name: 'a command is ended without what it has started',
    symbol: 'killGroup',
    operation: { replace: '-pid', with: 'pid' },
    test: 'kills the whole group at the deadline',
  },
  {
    ...GUARD,
    name: 'a command is in a group that cannot be ended with it',
    symbol: 'start',
    operation: { row: 'detached: true' },
    test: 'kills the whole group at the deadline',
  },
  {
    ...GUARD,
    name: 'what a command leaves behind goes on after its end',
    symbol: 'start',
    operation: {
      replace: '(exitCode) => { killGroup(); report({ exitCode, timedOut, killed }); process.exit(0); }',
      with: '(exitCode) => { report({ exitCode, timedOut, killed }); process.exit(0); }',
    },
    test: 'ends what the command left behind in its group',
  },
  {
    ...GUARD,
    name: 'a command starts past its deadline',
    symbol: 'start',
    operation: { replace: 'overdue()', with: 'false' },
    test: 'refuses to start a command whose deadline has passed',
  },
  {
    ...GUARD,
    name: 'a deadline is over only once the clock is past it by a second',
    symbol: 'overdue',
    operation: { replace: 'deadline', with: 'deadline + 1_000_000_000n' },
    test: 'refuses',
  },
  {
    ...GUARD,
    name: 'a command outlives its service',
    symbol: 'listen',
    operation: { drop: "lines.once('close', stop);" },
    test: 'kills at once when the parent dies',
  },
  {
    ...GUARD,
    name: 'a command goes on that its service has called back',
    symbol: 'stop',
    operation: { drop: 'killGroup();' },
    test: 'kills on request and by signal',
  },
  {
    ...SERVICE,
    name: 'a command goes on after its lease was lost',
    symbol: 'runGuarded',
    operation: { drop: "options.signal?.addEventListener('abort', kill, { once: true });" },
    test: 'kills on request and by signal',
  },
  {
    ...SERVICE,
    name: 'a command starts though its lease was lost before',
    symbol: 'runGuarded',
    operation: { drop: 'if (options.signal?.aborted === true) kill();' },
    test: 'kills on request and by signal',
  },
  {
    ...SERVICE,
    name: 'a guard stands still with the service that is stopped',
    symbol: 'runGuarded',
    operation: { row: 'detached: true' },
    test: 'kills at the deadline while the parent is stopped',
  },
  {
    ...SERVICE,
    name: 'a command outlives a guard that was killed',
    symbol: 'follow',
    operation: { drop: 'if (last === undefined && group !== undefined) killGroup(group);' },
    test: 'ends the command of a guard that was killed itself',
  },
];
