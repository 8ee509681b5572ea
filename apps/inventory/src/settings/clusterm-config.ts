import { resolve } from 'node:path';
import { masked, MusterError, unmasked, type AnsibleSettings, type ClustermConfig } from '#contracts';
import { effectiveAnsible, type AnsibleConfig } from '#service';

/** What the configuration of the operations contract is made of. */
export interface ConfigFacts {
  /** Of `muster.yaml`. */
  config: AnsibleConfig;
  /** On top of it. */
  settings: AnsibleSettings;
  /** Of `muster.yaml`: a relative `playbook_location` is relative to it. @default only an absolute one is taken */
  folder?: string;
  /** Where the API listens. */
  listen: string;
}

type Members = Record<string, unknown>;

/** Muster has no serf and no boltdb: these are the defaults that clients of the contiv cluster manager know, and send back. */
const SERF = { Addr: '127.0.0.1:7373', AuthKey: '', Timeout: 0 };
const INVENTORY = { boltdb: { dbfile: '/etc/clusterm/clusterm.boltdb' } };
const UPGRADE_PLAYBOOK = 'rolling-upgrade.yml';
const MOST_LEVELS = 32;

/** Our settings, and what the old client calls them. */
const MEMBERS = [
  ['sitePlaybook', 'configure_playbook'],
  ['cleanupPlaybook', 'cleanup_playbook'],
  ['upgradePlaybook', 'upgrade_playbook'],
  ['playbooks', 'playbook_location'],
  ['user', 'user'],
  ['privateKey', 'priv_key_file'],
  ['extraVars', 'extra_variables'],
] as const satisfies (readonly [keyof AnsibleSettings, string])[];
const PATHS: ReadonlySet<string> = new Set(['playbooks', 'privateKey']);

/** A refusal of the settings in the words of who sent them. */
export function inClustermWords(refusal: MusterError): MusterError {
  const text = MEMBERS.reduce(
    (t, [ours, theirs]) => t.replaceAll(`ansible.${ours}`, `ansible.${theirs}`),
    refusal.message,
  );
  return text === refusal.message ? refusal : new MusterError(refusal.code, text, refusal.facts, { cause: refusal });
}

/** As it is in force, secrets masked. */
export function clustermConfig(f: ConfigFacts): ClustermConfig {
  const is = effectiveAnsible(f.config, f.settings);
  return {
    serf: SERF,
    inventory: INVENTORY,
    ansible: {
      configure_playbook: is.sitePlaybook,
      cleanup_playbook: is.cleanupPlaybook,
      upgrade_playbook: f.settings.upgradePlaybook ?? UPGRADE_PLAYBOOK,
      playbook_location: is.playbooks,
      extra_variables: JSON.stringify(masked(is.extraVars)),
      user: is.user,
      priv_key_file: is.privateKey ?? '',
    },
    manager: { addr: f.listen.split(',').find((address) => !address.startsWith('unix:')) ?? '' },
  };
}

/**
 * The settings after a POST of this configuration. Only its Ansible part may differ from what is in force; what is
 * absent, null or empty there stays. Kept is only what differs from `muster.yaml`, so that the rest still follows it.
 * @throws MusterError BAD_REQUEST with the contract's texts, SETTINGS_INVALID
 */
export function ansibleFromClusterm(given: unknown, f: ConfigFacts): AnsibleSettings {
  if (given === undefined || given === null)
    throw new MusterError('BAD_REQUEST', 'nil value specified for clusterm configuration');
  const config = lowerKeys(given);
  if (!isMapping(config)) throw new MusterError('BAD_REQUEST', 'the clusterm configuration must be an object');
  const now = clustermConfig(f);
  for (const part of ['serf', 'inventory', 'manager'] as const)
    if (differs(config[part], lowerKeys(now[part])))
      throw new MusterError(
        'BAD_REQUEST',
        `"${part}" configuration can't be changed. Only changes to ansible configuration are allowed.`,
      );
  const ansible = config['ansible'] ?? {};
  if (!isMapping(ansible)) throw new MusterError('BAD_REQUEST', 'the ansible configuration must be an object');
  return merged(ansible, f);
}

function merged(ansible: Members, f: ConfigFacts): AnsibleSettings {
  const next = { ...f.settings };
  const text = (member: string): string | undefined => {
    const value = ansible[member] ?? '';
    if (typeof value !== 'string') throw new MusterError('BAD_REQUEST', `ansible.${member} must be a text`);
    return value === '' ? undefined : value;
  };
  const inFolder = (path: string): string => (f.folder === undefined ? path : resolve(f.folder, path));
  for (const [name, member] of MEMBERS) {
    if (name === 'extraVars') continue;
    const given = text(member);
    if (given === undefined) continue;
    const value = PATHS.has(name) ? inFolder(given) : given;
    if (value === (name === 'upgradePlaybook' ? UPGRADE_PLAYBOOK : f.config[name])) delete next[name];
    else next[name] = value;
  }
  const variables = isMapping(ansible['extra_variables'])
    ? ansible['extra_variables']
    : parseVariables(text('extra_variables'));
  if (variables === undefined) return next;
  const { extraVars } = effectiveAnsible(f.config, f.settings);
  const changed = differenceTo(f.config.extraVars, unmasked(variables, extraVars, 'extra_variables'));
  delete next.extraVars;
  return Object.keys(changed).length === 0 ? next : { ...next, extraVars: changed };
}

function parseVariables(text: string | undefined): Members | undefined {
  if (text === undefined) return undefined;
  const wrong = (why: string, cause?: unknown): MusterError =>
    new MusterError('BAD_REQUEST', `"extra_variables" should be a valid json. Error: ${why}`, {}, { cause });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw wrong((cause as Error).message, cause);
  }
  if (!isMapping(value)) throw wrong('an object is expected');
  if (isDeeper(value, MOST_LEVELS)) throw wrong(`it is nested more than ${MOST_LEVELS} levels deep`);
  return value;
}

/** A text within a body has passed no check of its depth, and what follows recurses. */
const isDeeper = (x: unknown, levels: number): boolean =>
  typeof x === 'object' &&
  x !== null &&
  (levels === 0 || Object.values(x).some((inner) => isDeeper(inner, levels - 1)));

/** What makes `own` into `wanted`: `null` for what is not wanted any more. */
function differenceTo(own: Members, wanted: Members): Members {
  const gone = Object.keys(own).filter((name) => !Object.hasOwn(wanted, name));
  const other = Object.entries(wanted).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(own[name]));
  return Object.fromEntries([...other, ...gone.map((name) => [name, null] as const)]);
}

/** Go's clients send the empty value of everything that they were not given. */
const isEmpty = (x: unknown): boolean =>
  x === undefined ||
  x === null ||
  x === '' ||
  x === 0 ||
  x === false ||
  (isMapping(x) && Object.values(x).every(isEmpty));

/** Is anything given that is not as it is? */
function differs(given: unknown, now: unknown): boolean {
  if (isEmpty(given)) return false;
  if (!isMapping(given)) return JSON.stringify(given) !== JSON.stringify(now);
  return Object.entries(given).some(([name, value]) => differs(value, isMapping(now) ? now[name] : undefined));
}

const isMapping = (x: unknown): x is Members => typeof x === 'object' && x !== null && !Array.isArray(x);

/** The case of keys is tolerated, but for the variables, whose names they are. */
function lowerKeys(x: unknown): unknown {
  if (!isMapping(x)) return x;
  return Object.fromEntries(
    Object.entries(x).map(([name, value]) => {
      const lower = name.toLowerCase();
      return [lower, lower === 'extra_variables' ? value : lowerKeys(value)];
    }),
  );
}
