import type { AgentKeyView, AgentToken, TokenRecord } from '#contracts';
import { word } from '#contracts/remedies/remedy.js';
import { shortAge } from '../output/times.js';
import { bad, ok, unknown, warn, type Asked, type Finding } from './finding.js';

const DAY_MS = 86_400_000;
/** A token that ends within this is to be replaced, ms. */
const SOON_MS = 14 * DAY_MS;
/** Keys of datagrams that are older should be exchanged, ms. */
const OLD_KEY_MS = 365 * DAY_MS;

const ADMIN = 'set MUSTER_TOKEN to a token of an admin, and run muster doctor again';

/** Tokens of the API, of agents that enrol, and the key of the agents' datagrams. */
export function tokenFindings(
  tokens: Asked<readonly (TokenRecord & { id: string })[]>,
  agentTokens: Asked<readonly AgentToken[]>,
  key: Asked<AgentKeyView>,
  now: number,
): Finding[] {
  return [...apiTokens(tokens, now), ...enrolTokens(agentTokens, now), ...keyFindings(key, now)];
}

function apiTokens(asked: Asked<readonly (TokenRecord & { id: string })[]>, now: number): Finding[] {
  const check = 'token.api';
  if ('failed' in asked) return [unknown(check, 'tokens', asked.failed, ADMIN)];
  const wrong = asked.value.flatMap(({ id, name, role, expiresAt }): Finding[] => {
    if (expiresAt === undefined || expiresAt - now > SOON_MS) return [];
    if (expiresAt <= now)
      return [
        warn(check, name, `its ${role} token has ended ${shortAge(now - expiresAt)} ago`, `muster token delete ${id}`),
      ];
    const renew = `muster token create ${word(name)} --role ${role} --ttl 90d`;
    return [warn(check, name, `its ${role} token ends in ${shortAge(expiresAt - now)}`, renew)];
  });
  if (wrong.length > 0) return wrong;
  return [ok(check, 'tokens', `${asked.value.length} made over the API, none ends within 14 days`)];
}

function enrolTokens(asked: Asked<readonly AgentToken[]>, now: number): Finding[] {
  const check = 'token.agent';
  if ('failed' in asked) return [unknown(check, 'agent tokens', asked.failed, ADMIN)];
  const open = asked.value.filter((t) => t.expiresAt > now && t.usedBy.length < t.uses);
  const long = open.filter((t) => t.expiresAt - now > DAY_MS);
  if (long.length === 0)
    return [ok(check, 'agent tokens', `${open.length} still let nodes in, none for more than a day`)];
  return long.map((t) =>
    warn(
      check,
      t.id,
      `whoever has it may register ${t.uses - t.usedBy.length} nodes for ${shortAge(t.expiresAt - now)} more`,
      `muster agent token delete ${t.id}`,
    ),
  );
}

function keyFindings(asked: Asked<AgentKeyView>, now: number): Finding[] {
  const check = 'key.datagram';
  if ('failed' in asked) return [unknown(check, 'agents', asked.failed, 'muster agent key status')];
  const { phase, changedAt, waitsFor } = asked.value;
  if (waitsFor.length > 0) {
    const names = waitsFor.slice(0, 5).map((w) => w.name);
    const more = waitsFor.length > names.length ? ` and ${waitsFor.length - names.length} more` : '';
    return [
      bad(check, 'agents', `not every agent has the keys: ${names.join(', ')}${more}`, 'muster agent key status'),
    ];
  }
  const rotate = 'muster agent key rotate';
  if (phase === 'file') return [ok(check, 'agents', 'that of muster init, on every agent')];
  if (changedAt === undefined) return [unknown(check, 'agents', 'when it was exchanged is not told', rotate)];
  const text = `exchanged ${shortAge(now - changedAt)} ago`;
  return [now - changedAt > OLD_KEY_MS ? warn(check, 'agents', text, rotate) : ok(check, 'agents', text)];
}
