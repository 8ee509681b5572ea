import { MusterError } from '../errors/errors.js';
import { NAME_PATTERN } from '../names/names.js';
import type { HostGroup } from './host-group.js';
import { isNoHookHost } from './hook-address.js';
import { MASK } from './masked.js';
import {
  checkDetection,
  defaultCheck,
  defaultDegraded,
  defaultFencing,
  defaultSettings,
  DetectionProfiles,
  readStorm,
  silenceTimeout,
  type AnsibleSettings,
  type ClusterSettings,
  type DetectionSettings,
} from './settings.js';
import { checkVariables } from './variable-names.js';

/** What the settings must fit to. */
export interface SettingsFacts {
  nodes: readonly { name: string; hostGroup?: string; enrolled?: boolean }[];
  /** As they were: what is gone from them may not be in use. */
  before?: Pick<ClusterSettings, 'hostGroups' | 'agentPort'>;
}

type Members = Record<string, unknown>;
type Say = (fault: string) => void;

/** Probes or reports more often than this are a load of their own, ms. */
const SHORTEST_PERIOD = 100;
/** An agent's loop runs each 20 to 40 ms, and later on a busy machine: one that calls this late abstains for no reason, ms. */
const LEAST_LOOP_GAP = 100;
/** Within so long a dead node's work runs elsewhere: whoever has a longer silence timeout has no detection, ms. */
const LONGEST_SILENCE = 60_000;
const MOST_HOOKS = 32;
const WEEK_MS = 7 * 86_400_000;
/** A check takes seconds of a node and of a provisioner: more often is a load of its own. */
const SHORTEST_CHECK_MS = 60_000;
const LONGEST_CHECK_MS = 30 * 86_400_000;

const PLAYBOOK = /^[^/\s]+\.ya?ml$/;
/** Absolute, and nothing in it that a terminal or a shell-like splitting would take for something else. */
const PATH = /^\/[\x21-\x7e]{0,1000}$/;
const USER = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const HOST_PORT = /^(?:\[[0-9A-Fa-f:]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/;

/**
 * The settings of the cluster, as one set: every member typed, no unknown ones, and all that must fit together.
 * @throws MusterError SETTINGS_INVALID that names everything that is wrong, also in `facts.findings`
 */
export function checkSettings(candidate: unknown, facts: SettingsFacts = { nodes: [] }): ClusterSettings {
  const findings: string[] = [];
  const say: Say = (fault) => void findings.push(fault);
  if (isMapping(candidate)) {
    refuseUnknown(candidate, Object.keys(defaultSettings('x')), '', say);
    if (typeof candidate['cluster'] !== 'string' || !NAME_PATTERN.test(candidate['cluster'])) say('cluster is no name');
    wholeNumber(candidate, 'agentPort', 1, 65_535, say);
    checkPortInUse(candidate['agentPort'], facts, say);
    wholeNumber(candidate, 'leaveGrace', 0, WEEK_MS, say);
    wholeNumber(candidate, 'holdDown', 0, WEEK_MS, say);
    checkDegraded(candidate['degraded'], say);
    checkCheck(candidate['check'], say);
    checkDetectionPart(candidate['detection'], say);
    checkFencing(candidate['fencing'], say);
    checkHostGroups(candidate['hostGroups'], facts, say);
    checkGlobals(candidate['globals'], say);
    checkWitness(candidate['witness'], say);
    checkAnsible(candidate['ansible'], say);
    checkWebhooks(candidate['webhooks'], say);
    checkCompat(candidate['compat'], say);
  } else say('the settings must be a mapping');
  if (findings.length > 0) throw new MusterError('SETTINGS_INVALID', findings.join('; '), { findings });
  // Every member has just been looked at.
  return candidate as ClusterSettings;
}

/**
 * Variables for every run that are not written in a file of the control machine: as those of a request, and besides
 * the connection to all nodes may be `ssh` or, for trials on one machine, `local`. `null` takes one away: any may go.
 * @throws MusterError BAD_REQUEST
 */
export function checkRunVariables(variables: Record<string, unknown>, whose: string): void {
  const given = Object.entries(variables).filter(
    ([name, value]) => value !== null && !(name === 'ansible_connection' && (value === 'ssh' || value === 'local')),
  );
  checkVariables(Object.fromEntries(given), whose);
}

/** Agents listen on the port of their own configuration: another one here, and each would find all others silent. */
function checkPortInUse(port: unknown, { before, nodes }: SettingsFacts, say: Say): void {
  const agents = nodes.filter((n) => n.enrolled === true).map((n) => n.name);
  if (before !== undefined && port !== before.agentPort && agents.length > 0)
    say(`agentPort cannot be changed while nodes run agents, which listen on ${before.agentPort}: ${someOf(agents)}`);
}

function checkDetectionPart(d: unknown, say: Say): void {
  if (!mapping(d, 'detection', say)) return;
  if (refuseUnknown(d, Object.keys(DetectionProfiles.lan), 'detection', say)) return;
  if (!Object.values(DetectionProfiles).some((p) => p.profile === d['profile']))
    return say(`detection.profile must be one of ${Object.keys(DetectionProfiles).join(', ')}`);
  const numbers = d as unknown as DetectionSettings;
  attempt(() => checkDetection(numbers), say);
  for (const fault of detectionFaults(numbers)) say(`detection: ${fault}`);
}

/** Numbers that fit each other and switch detection off all the same: by hand a digit is lost, or one too many. */
function detectionFaults(d: DetectionSettings): string[] {
  const { interval, reportPeriod, freshness, loopGap } = d;
  const faults: string[] = [];
  for (const name of ['interval', 'reportPeriod'] as const)
    if (d[name] < SHORTEST_PERIOD) faults.push(`${name} (${d[name]}) must be at least ${SHORTEST_PERIOD} ms`);
  // Else every report is stale before the next one comes, and the monitor blind.
  if (freshness < 2 * reportPeriod)
    faults.push(`freshness (${freshness}) must be at least twice the reportPeriod (${2 * reportPeriod})`);
  if (loopGap < LEAST_LOOP_GAP) faults.push(`loopGap (${loopGap}) must be at least ${LEAST_LOOP_GAP} ms`);
  // Else an agent that stood still for several probes reports everybody down.
  if (loopGap > interval) faults.push(`loopGap (${loopGap}) must be at most the interval (${interval})`);
  if (silenceTimeout(d) > LONGEST_SILENCE)
    faults.push(`interval × misses (${silenceTimeout(d)}) must be at most ${LONGEST_SILENCE} ms`);
  return faults;
}

function checkDegraded(d: unknown, say: Say): void {
  if (!mapping(d, 'degraded', say)) return;
  refuseUnknown(d, Object.keys(defaultDegraded), 'degraded', say);
  oneOf(d, 'policy', ['alarm', 'drain', 'down'], 'degraded', say);
  if (!(Number.isSafeInteger(d['after']) && (d['after'] as number) >= 0 && (d['after'] as number) <= WEEK_MS))
    say(`degraded.after must be a whole number of ms from 0 to ${WEEK_MS}`);
}

function checkCheck(c: unknown, say: Say): void {
  if (!mapping(c, 'check', say)) return;
  refuseUnknown(c, Object.keys(defaultCheck), 'check', say);
  const { every } = c;
  const isPeriod =
    Number.isSafeInteger(every) && (every as number) >= SHORTEST_CHECK_MS && (every as number) <= LONGEST_CHECK_MS;
  if (every !== 0 && !isPeriod)
    say(`check.every must be 0 (never) or a whole number of ms from ${SHORTEST_CHECK_MS} to ${LONGEST_CHECK_MS}`);
}

function checkFencing(f: unknown, say: Say): void {
  if (!mapping(f, 'fencing', say)) return;
  refuseUnknown(f, [...Object.keys(defaultFencing), 'paused'], 'fencing', say);
  oneOf(f, 'mode', ['observe', 'enforce'], 'fencing', say);
  oneOf(f, 'hung', ['alarm', 'fence'], 'fencing', say);
  oneOf(f, 'afterRecovery', ['power-on', 'stay-off'], 'fencing', say);
  attempt(() => readStorm(f['storm']), say);
  const { paused } = f;
  if (paused === undefined) return;
  if (!mapping(paused, 'fencing.paused', say)) return;
  refuseUnknown(paused, ['until', 'reason', 'by'], 'fencing.paused', say);
  const isDated = paused['until'] === undefined || Number.isSafeInteger(paused['until']);
  if (!isDated || !isText(paused['reason']) || !isText(paused['by']))
    say('fencing.paused needs "reason" and "by"; "until" is a time in ms');
}

function checkHostGroups(groups: unknown, facts: SettingsFacts, say: Say): void {
  if (!list(groups, 'hostGroups', say)) return;
  const names = new Set<unknown>();
  const nodes = new Set(facts.nodes.map((n) => n.name));
  for (const [i, group] of groups.entries()) {
    const at = `hostGroups[${i}]`;
    if (!mapping(group, at, say)) continue;
    const { name, role, onReturn = 'resetup', lifeSign, lifeSignReason } = group;
    refuseUnknown(group, ['name', 'role', 'onReturn', 'lifeSign', 'lifeSignReason'], at, say);
    if (typeof name !== 'string' || !NAME_PATTERN.test(name))
      say(`${at}: each needs a name, of letters, digits, . _ -`);
    else if (!isGroupName(name) || nodes.has(name))
      say(`${at}: the name ${name} means something else to Ansible, or is a node's`);
    if (names.has(name)) say(`hostGroups: ${String(name)} is there twice`);
    names.add(name);
    if (!['master', 'worker', 'none'].some((r) => r === role)) say(`${at}: role must be master, worker or none`);
    if (!['resetup', 'ask', 'check-only'].some((r) => r === onReturn))
      say(`${at}: onReturn must be resetup, ask or check-only`);
    if (lifeSign !== undefined && lifeSign !== 'none') say(`${at}: lifeSign must be none, or absent`);
    const isReason = typeof lifeSignReason === 'string' && isOneLine(lifeSignReason);
    if (lifeSign !== undefined ? !isReason : lifeSignReason !== undefined)
      say(`${at}: lifeSign: none needs a lifeSignReason of 1 to 500 characters in one line, which is for nothing else`);
  }
  for (const { name } of facts.before?.hostGroups ?? []) {
    const left = names.has(name) ? [] : facts.nodes.filter((n) => n.hostGroup === name).map((n) => n.name);
    if (left.length > 0)
      say(`hostGroups: ${name} cannot be removed while nodes are in it: ${someOf(left)}. Decommission them first`);
  }
}

/** It is shown in lines of lists. */
const isOneLine = (reason: string): boolean => reason.trim() !== '' && reason.length <= 500 && !/[\r\n]/.test(reason);

/** Ansible and the inventory itself give other names a meaning. */
const isGroupName = (name: HostGroup['name']): boolean =>
  name !== 'all' && name !== 'ungrouped' && !name.startsWith('muster_role_');

function checkGlobals(globals: unknown, say: Say): void {
  if (mapping(globals, 'globals', say)) attempt(() => checkVariables(globals, 'globals'), say);
}

function checkWitness(witness: unknown, say: Say): void {
  const port = typeof witness === 'string' ? HOST_PORT.exec(witness)?.[1] : undefined;
  if (witness !== '' && !(port !== undefined && Number(port) >= 1 && Number(port) <= 65_535))
    say('witness must be host:port, or empty for none');
}

function checkAnsible(a: unknown, say: Say): void {
  if (!mapping(a, 'ansible', say)) return;
  const text = (name: keyof AnsibleSettings, pattern: RegExp, what: string): void => {
    const value = a[name];
    if (value !== undefined && !(typeof value === 'string' && pattern.test(value)))
      say(`ansible.${name} must be ${what}`);
  };
  const known = ['playbooks', 'user', 'privateKey', 'extraVars', 'sitePlaybook', 'cleanupPlaybook', 'upgradePlaybook'];
  refuseUnknown(a, known, 'ansible', say);
  text('playbooks', PATH, 'the absolute path of a folder on the provisioners');
  text('privateKey', PATH, 'the absolute path of a file on the provisioners');
  text('user', USER, 'a user name');
  for (const name of ['sitePlaybook', 'cleanupPlaybook', 'upgradePlaybook'] as const)
    text(name, PLAYBOOK, 'the name of a .yml file in the playbooks folder');
  const { extraVars = {} } = a;
  if (mapping(extraVars, 'ansible.extraVars', say))
    attempt(() => checkRunVariables(extraVars, 'ansible.extraVars'), say);
}

function checkWebhooks(hooks: unknown, say: Say): void {
  if (!list(hooks, 'webhooks', say)) return;
  if (hooks.length > MOST_HOOKS) say(`webhooks: at most ${MOST_HOOKS}`);
  const names = new Set<unknown>();
  for (const [i, hook] of hooks.entries()) {
    const at = `webhooks[${i}]`;
    if (!mapping(hook, at, say)) continue;
    const { name, url, secret, severity = 'warning' } = hook;
    refuseUnknown(hook, ['name', 'url', 'secret', 'severity'], at, say);
    if (typeof name !== 'string' || !NAME_PATTERN.test(name))
      say(`${at}: each needs a name, of letters, digits, . _ -`);
    if (names.has(name)) say(`webhooks: ${String(name)} is there twice`);
    names.add(name);
    const fault = urlFault(url);
    if (fault !== undefined) say(`${at}.url ${fault}`);
    if (secret !== undefined && !(isText(secret) && secret.length <= 500 && secret !== MASK))
      say(`${at}.secret must be a text of 1 to 500 characters`);
    if (!['info', 'warning', 'critical'].some((s) => s === severity))
      say(`${at}.severity must be info, warning or critical`);
  }
}

function urlFault(url: unknown): string | undefined {
  if (typeof url !== 'string' || url.length > 2000 || !URL.canParse(url)) return 'must be a URL';
  const { protocol, username, password, hostname } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return 'must begin with http:// or https://';
  if (username !== '' || password !== '') return 'must hold no user or password: it is shown to everybody who may read';
  if (isNoHookHost(hostname))
    return 'must not lead to a link-local address or to the metadata of a cloud: whoever may set a webhook would have this machine ask there';
  return undefined;
}

function checkCompat(compat: unknown, say: Say): void {
  if (!mapping(compat, 'compat', say)) return;
  refuseUnknown(compat, ['force'], 'compat', say);
  if (typeof compat['force'] !== 'boolean') say('compat.force must be true or false');
}

const isMapping = (x: unknown): x is Members => typeof x === 'object' && x !== null && !Array.isArray(x);
const isText = (x: unknown): x is string => typeof x === 'string' && x !== '';
const someOf = (names: string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`;

function mapping(x: unknown, at: string, say: Say): x is Members {
  if (isMapping(x)) return true;
  say(`${at} must be a mapping`);
  return false;
}

function list(x: unknown, at: string, say: Say): x is unknown[] {
  if (Array.isArray(x)) return true;
  say(`${at} must be a list`);
  return false;
}

/** @returns whether there were any */
function refuseUnknown(given: Members, known: readonly string[], at: string, say: Say): boolean {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  for (const name of unknown) say(`${at === '' ? '' : `${at}.`}${name} is not a setting`);
  return unknown.length > 0;
}

function oneOf(given: Members, name: string, values: readonly string[], at: string, say: Say): void {
  if (!values.some((v) => v === given[name])) say(`${at}.${name} must be ${values.join(' or ')}`);
}

function wholeNumber(given: Members, name: string, least: number, most: number, say: Say): void {
  const n = given[name];
  if (!(Number.isInteger(n) && (n as number) >= least && (n as number) <= most))
    say(`${name} (${String(n)}) must be a whole number from ${least} to ${most}`);
}

/** What another check throws is one finding of this one. */
function attempt(check: () => unknown, say: Say): void {
  try {
    check();
  } catch (e) {
    if (!(e instanceof MusterError)) throw e;
    say(e.message);
  }
}
