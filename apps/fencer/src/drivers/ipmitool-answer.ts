import type { GuardResult } from '#bus';
import type { PowerVerb } from '#contracts';
import type { Power, PowerOutcome } from './power-driver.js';

/** Exact answers of ipmitool 1.8: anything else is not an answer. */
const answers: Record<PowerVerb, Record<string, Power | 'done'>> = {
  status: { 'Chassis Power is on': 'on', 'Chassis Power is off': 'off' },
  off: { 'Chassis Power Control: Down/Off': 'done' },
  on: { 'Chassis Power Control: Up/On': 'done' },
  soft: { 'Chassis Power Control: Soft': 'done' },
};

/** A BMC that refuses a session does so at once (0.03 s measured); a dead one lets the tool try for seconds. */
const REFUSAL_MS = 2_500;

/**
 * What ipmitool's end means. The power comes from stdout alone, matched exactly. A wrong password and a dead BMC end
 * with the same line: the time tells them apart, and `-v` shows at which message of the handshake it ended. That text
 * names the failure for people and for whether trying again can help; it never says anything about the power.
 */
export function readIpmitoolAnswer(verb: PowerVerb, r: GuardResult): PowerOutcome {
  const answer = answers[verb][r.stdout.trim()];
  if (r.exitCode === 0 && answer !== undefined) return answer === 'done' ? { ok: true } : { ok: true, power: answer };
  return { ok: false, ...(verb === 'status' ? { power: 'unknown' as const } : {}), ...failure(verb, r) };
}

function failure(verb: PowerVerb, r: GuardResult): Pick<Required<PowerOutcome>, 'code' | 'detail'> {
  if (r.refused) return { code: 'DEADLINE_PASSED', detail: 'the right to act ended before the command was started' };
  if (r.timedOut) return { code: 'BMC_TIMEOUT', detail: `no answer to ${verb} within ${seconds(r.tookMs)}` };
  if (r.killed) return { code: 'COMMAND_FAILED', detail: `${verb} was stopped after ${seconds(r.tookMs)}` };
  const said = r.stderr;
  if (
    /invalid authentication algorithm|invalid (integrity|confidentiality) algorithm|no (matching )?cipher suite/i.test(
      said,
    )
  )
    return { code: 'BMC_CIPHER', detail: 'the BMC does not take this cipher suite' };
  if (/RAKP 2/.test(said)) return { code: 'BMC_AUTH', detail: 'the BMC refuses the user name or the password' };
  if (/Unable to establish/.test(said))
    return r.tookMs < REFUSAL_MS
      ? { code: 'BMC_AUTH', detail: `the BMC refused a session within ${seconds(r.tookMs)}` }
      : { code: 'BMC_TIMEOUT', detail: `no session within ${seconds(r.tookMs)}` };
  const line = said.trim().split('\n').pop() ?? '';
  return { code: 'BMC_REFUSED', detail: `${verb} ended with code ${r.exitCode ?? 'none'}: ${line.slice(0, 200)}` };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
