import { UsageFailure } from '../failure/failure.js';
import { parseAssignment, parsePath, toMapping, type Assignment } from '../input/assignments.js';

/** Fields of a node that are one text, as they may be written. */
const TEXTS: Record<string, string> = {
  hostGroup: 'hostGroup',
  'host-group': 'hostGroup',
  failureDomain: 'failureDomain',
  'failure-domain': 'failureDomain',
  provisionDriver: 'provisionDriver',
  'provision-driver': 'provisionDriver',
  fencing: 'fencing',
};
const NETWORK = ['network', 'networks'];
const SHOWN = 'hostGroup, failureDomain, provisionDriver, fencing, vars.NAME, network.NAME';

/** `hostGroup=web vars.rack=r1 network.backend=10.1.0.5` as members of a request. @throws UsageFailure */
export function assignedFields(texts: string[]): Record<string, unknown> {
  return toMapping(texts.map((text) => place(parseAssignment(text), text)));
}

function place({ path, value }: Assignment, text: string): Assignment {
  const nested = placeNested(path);
  if (nested !== undefined) return { path: nested, value: nested[0] === 'networks' ? { address: value } : value };
  const field = TEXTS[path.join('.')];
  if (field === undefined) throw new UsageFailure(`"${text}": fields are ${SHOWN}`);
  return { path: [field], value };
}

/** `vars.rack hostGroup network.backend ssh-host-keys` as a merge patch that removes them. @throws UsageFailure */
export function removedFields(keys: string[]): Record<string, unknown> {
  return toMapping(keys.map((key) => ({ path: placeNested(parsePath(key)) ?? [removable(key)], value: null })));
}

/** @throws UsageFailure where part of a variable is named: the server replaces it as a whole */
function placeNested([first = '', ...rest]: string[]): string[] | undefined {
  if (rest.length === 0) return undefined;
  // The name of a network may have dots.
  if (NETWORK.includes(first)) return ['networks', rest.join('.')];
  if (first !== 'vars') return undefined;
  if (rest.length > 1)
    throw new UsageFailure(`"vars.${rest.join('.')}": a variable is set or removed as a whole: vars.${rest[0]}:=JSON`);
  return ['vars', ...rest];
}

function removable(key: string): string {
  if (key === 'ssh-host-keys' || key === 'sshHostKeys') return 'sshHostKeys';
  if (TEXTS[key] === 'hostGroup') return 'hostGroup';
  throw new UsageFailure(`"${key}": what can be unset is vars.NAME, network.NAME, hostGroup, ssh-host-keys`);
}
