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

/** A BMC that refuses a session does so at once (0.03–0.3 s measured); a dead one lets the tool try for seconds. */
const REFUSAL_MS = 2_500;

/** The suite, not the user, is what it does not take. */
const CIPHER = /invalid (authentication|integrity|confidentiality) algorithm|no (matching )?cipher suite/i;
/** What the handshake calls a wrong user, password or privilege. A BMC that is out of sessions says something else. */
const AUTH =
  /RAKP 2 HMAC is invalid|RAKP 4 message has invalid integrity check value|RAKP [24] message indicates an error : (unauthorized name|invalid name length|invalid role|unauthorized role requested|invalid integrity check value)/;
/** Lines that are there whatever went wrong. */
const IDLE = /^\s*$|Loading IANA|Unable to establish|Could not open socket/;

/**
 * What ipmitool's end means. The power comes from stdout alone, matched exactly. A wrong password, a BMC without a free
 * session and a dead one end with the same line: `-v` shows at which message of the handshake it ended, and why. That
 * text names the failure for people and for whether trying again can help: it cannot only where the handshake itself
 * names the user or the password. It never says anything about the power.
 */
export function readIpmitoolAnswer(verb: PowerVerb, r: GuardResult): PowerOutcome {
  const answer = answers[verb][r.stdout.trim()];
  if (r.exitCode === 0 && answer !== undefined) return answer === 'done' ? { ok: true } : { ok: true, power: answer };
  return { ok: false, ...(verb === 'status' ? { power: 'unknown' as const } : {}), ...ipmitoolFailure(verb, r) };
}

/** @param verb what it was to do, for people */
export function ipmitoolFailure(verb: string, r: GuardResult): Pick<Required<PowerOutcome>, 'code' | 'detail'> {
  if (r.refused) return { code: 'DEADLINE_PASSED', detail: 'the right to act ended before the command was started' };
  if (r.timedOut) return { code: 'BMC_TIMEOUT', detail: `no answer to ${verb} within ${seconds(r.tookMs)}` };
  if (r.killed) return { code: 'COMMAND_FAILED', detail: `${verb} was stopped after ${seconds(r.tookMs)}` };
  const said = r.stderr;
  if (CIPHER.test(said)) return { code: 'BMC_CIPHER', detail: 'the BMC does not take this cipher suite' };
  const auth = AUTH.exec(said)?.[0];
  if (auth !== undefined)
    return { code: 'BMC_AUTH', detail: `the BMC refuses the user name, the password or the privilege: ${auth}` };
  const line = said.split('\n').findLast((l) => !IDLE.test(l)) ?? '';
  if (/Unable to establish/.test(said)) {
    const why = line === '' ? '' : `: ${line.trim().slice(0, 200)}`;
    return r.tookMs < REFUSAL_MS
      ? { code: 'BMC_REFUSED', detail: `no session, after ${seconds(r.tookMs)}${why}` }
      : { code: 'BMC_TIMEOUT', detail: `no session within ${seconds(r.tookMs)}${why}` };
  }
  return { code: 'BMC_REFUSED', detail: `${verb} ended with code ${r.exitCode ?? 'none'}: ${line.slice(0, 200)}` };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
