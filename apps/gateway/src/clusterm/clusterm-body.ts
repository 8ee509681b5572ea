import { MusterError, type MonitorNode, refuseHostile } from '#contracts';
import { refuseDepth } from '../body/json-text.js';
import { goKind, goSyntaxError } from './go-json.js';

/** A request of the clusterm surface, as far as it was given. */
export interface ClustermBody {
  nodes: string[];
  addresses: string[];
  hostGroup?: string;
  /** Absent: not given, or blank in a request that asks for nodes. */
  extraVars?: Record<string, unknown>;
  force?: boolean;
  monitorEvent?: { name: string; nodes: MonitorNode[] };
  /** Looked at by inventory. */
  config?: unknown;
}

type Members = Record<string, unknown>;

const refuse = (text: string): MusterError => new MusterError('BAD_REQUEST', text);
const misfit = (value: unknown, field: string, type: string): MusterError =>
  refuse(`json: cannot unmarshal ${goKind(value)} into Go struct field APIRequest.${field} of type ${type}`);

/**
 * Unknown members, nulls and the case of keys are tolerated, as the old server did; so is an empty body.
 * @throws MusterError BAD_REQUEST with the old server's text
 */
export function parseClustermBody(text: string): ClustermBody {
  const members = lowerKeys(
    parseObject(text, (value) => `json: cannot unmarshal ${goKind(value)} into Go value of type manager.APIRequest`),
  );
  const hostGroup = textMember(members, 'host_group');
  const extraVars = toExtraVars(members['extra_vars']);
  const monitorEvent = toMonitorEvent(members['monitor_event']);
  return {
    nodes: textList(members, 'nodes'),
    addresses: ['addresses', 'addrs', 'addressess'].flatMap((name) => textList(members, name)),
    ...(hostGroup !== undefined && { hostGroup }),
    ...(extraVars !== undefined && { extraVars }),
    ...(members['force'] === true && { force: true }),
    ...(monitorEvent !== undefined && { monitorEvent }),
    ...(members['config'] !== undefined && { config: members['config'] }),
  };
}

function parseObject(text: string, other: (value: unknown) => string): Members {
  if (text.trim() === '') return {};
  refuseDepth(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new MusterError('BAD_REQUEST', goSyntaxError(text) ?? (cause as Error).message, {}, { cause });
  }
  if (value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw refuse(other(value));
  refuseHostile(value);
  return value as Members;
}

const lowerKeys = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).map(([key, value]) => [key.toLowerCase(), value]));

function textMember(members: Members, field: string): string | undefined {
  const value = members[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw misfit(value, field, 'string');
  return value;
}

function textList(members: Members, field: string): string[] {
  const value = members[field];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw misfit(value, field, '[]string');
  return value.map((item: unknown) => {
    if (item === null) return '';
    if (typeof item !== 'string') throw misfit(item, field, 'string');
    return item;
  });
}

/**
 * An object, or a text that holds one; a blank text is `{}`, null and absent are absent.
 * @throws MusterError BAD_REQUEST
 */
function toExtraVars(value: unknown): Record<string, unknown> | undefined {
  if (value === undefined || value === null) return undefined;
  const wrong = (why: string): MusterError => refuse(`"extra_vars" should be a valid json. Error: ${why}`);
  const other = (x: unknown): string =>
    `json: cannot unmarshal ${goKind(x)} into Go value of type map[string]interface {}`;
  if (typeof value === 'object' && !Array.isArray(value)) return value as Members;
  if (typeof value !== 'string') throw wrong(other(value));
  try {
    return parseObject(value, other);
  } catch (cause) {
    throw wrong((cause as MusterError).message);
  }
}

function toMonitorEvent(value: unknown): ClustermBody['monitorEvent'] {
  if (typeof value !== 'object' || value === null) return undefined;
  const members = lowerKeys(value as Members);
  const nodes = Array.isArray(members['nodes']) ? members['nodes'] : [];
  return {
    name: typeof members['name'] === 'string' ? members['name'] : '',
    nodes: nodes.map((node: unknown) => {
      const given = typeof node === 'object' && node !== null ? lowerKeys(node as Members) : {};
      const member = (name: string): string => (typeof given[name] === 'string' ? given[name] : '');
      return { label: member('label'), serial: member('serial'), addr: member('addr') };
    }),
  };
}
