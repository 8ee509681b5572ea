import { UsageFailure } from '../failure.js';
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
const SHOWN = 'hostGroup, failureDomain, provisionDriver, fencing, vars.NAME, network.NAME';

/** `hostGroup=web vars.rack=r1 network.backend=10.1.0.5` as members of a request. @throws UsageFailure */
export function assignedFields(texts: string[]): Record<string, unknown> {
  return toMapping(texts.map((text) => place(parseAssignment(text), text)));
}

function place({ path, value }: Assignment, text: string): Assignment {
  const [first = '', ...rest] = path;
  if (first === 'vars' && rest.length > 0) return { path, value };
  if ((first === 'network' || first === 'networks') && rest.length === 1)
    return { path: ['networks', ...rest], value: { address: value } };
  const field = TEXTS[first];
  if (field === undefined || rest.length > 0) throw new UsageFailure(`"${text}": fields are ${SHOWN}`);
  return { path: [field], value };
}

/** `vars.rack hostGroup network.backend ssh-host-keys` as a merge patch that removes them. @throws UsageFailure */
export function removedFields(keys: string[]): Record<string, unknown> {
  return toMapping(
    keys.map((key) => {
      const [first = '', ...rest] = parsePath(key);
      if (first === 'vars' && rest.length > 0) return { path: ['vars', ...rest], value: null };
      if ((first === 'network' || first === 'networks') && rest.length === 1)
        return { path: ['networks', ...rest], value: null };
      if (key === 'ssh-host-keys' || key === 'sshHostKeys') return { path: ['sshHostKeys'], value: null };
      if (TEXTS[key] === 'hostGroup') return { path: ['hostGroup'], value: null };
      throw new UsageFailure(`"${key}": what can be unset is vars.NAME, network.NAME, hostGroup, ssh-host-keys`);
    }),
  );
}
