import { MusterError } from '../errors/errors.js';
import { MASK, masked, unmasked } from './masked.js';
import {
  defaultCheck,
  defaultDegraded,
  defaultFencing,
  defaultSettings,
  defaultStorm,
  DetectionProfiles,
  type ClusterSettings,
  type DetectionSettings,
} from './settings.js';

type Members = Record<string, unknown>;
const isMapping = (x: unknown): x is Members => typeof x === 'object' && x !== null && !Array.isArray(x);
const invalid = (message: string): MusterError => new MusterError('SETTINGS_INVALID', message);

/**
 * A merge patch (RFC 7396) over the whole set: what is absent stays, `null` brings the default back, lists are replaced.
 * Another detection profile brings its own numbers, and the patch's on top. Masked secrets stay as they are stored.
 * Not checked yet: that is {@link checkSettings}'s.
 * @throws MusterError SETTINGS_INVALID where it is no patch at all
 */
export function patchedSettings(current: ClusterSettings, patch: unknown): unknown {
  if (!isMapping(patch)) throw invalid('a patch of the settings is a mapping of the members to change');
  const given = withStoredSecrets(current, patch);
  const merged = mergePatch({ ...current, detection: detectionBase(current, given['detection']) }, given);
  return isMapping(merged) ? completed(current.cluster, merged) : merged;
}

/** RFC 7396. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMapping(patch)) return patch;
  const out = new Map<string, unknown>(Object.entries(isMapping(target) ? target : {}));
  for (const [name, value] of Object.entries(patch))
    if (value === null) out.delete(name);
    else out.set(name, mergePatch(out.get(name), value));
  return Object.fromEntries(out);
}

function detectionBase(current: ClusterSettings, patch: unknown): DetectionSettings {
  const profile = isMapping(patch) ? patch['profile'] : undefined;
  return profile === undefined || profile === current.detection.profile
    ? current.detection
    : (profileOf(profile) ?? current.detection);
}

const profileOf = (name: unknown): DetectionSettings | undefined =>
  Object.values(DetectionProfiles).find((p) => p.profile === name);

function completed(cluster: string, merged: Members): Members {
  const out: Members = { ...defaultSettings(cluster), ...merged };
  const { detection, fencing, degraded, check } = out;
  if (isMapping(degraded)) out['degraded'] = { ...defaultDegraded, ...degraded };
  if (isMapping(check)) out['check'] = { ...defaultCheck, ...check };
  if (isMapping(detection))
    out['detection'] = { ...(profileOf(detection['profile']) ?? DetectionProfiles.lan), ...detection };
  if (isMapping(fencing)) {
    const storm = fencing['storm'] ?? {};
    out['fencing'] = { ...defaultFencing, ...fencing, storm: isMapping(storm) ? { ...defaultStorm, ...storm } : storm };
  }
  return out;
}

function withStoredSecrets(current: ClusterSettings, patch: Members): Members {
  const out = { ...patch };
  const { globals, ansible, webhooks } = patch;
  if (globals !== undefined) out['globals'] = unmasked(globals, current.globals, 'globals');
  if (isMapping(ansible) && ansible['extraVars'] !== undefined)
    out['ansible'] = {
      ...ansible,
      extraVars: unmasked(ansible['extraVars'], current.ansible.extraVars, 'ansible.extraVars'),
    };
  if (Array.isArray(webhooks))
    out['webhooks'] = webhooks.map((hook: unknown) => {
      if (!isMapping(hook)) return hook;
      const stored = current.webhooks.find((w) => w.name === hook['name']);
      if (hook['secret'] === MASK && stored?.secret === undefined)
        throw invalid(`webhooks: ${MASK} stands for the stored secret of ${String(hook['name'])}, which has none`);
      return unmasked(hook, stored, `webhooks.${String(hook['name'])}`);
    });
  return out;
}

/** As they are shown: no secret in them. */
export const shownSettings = <T extends ClusterSettings>(s: T): T => ({
  ...s,
  globals: masked(s.globals),
  ansible: { ...s.ansible, ...(s.ansible.extraVars !== undefined && { extraVars: masked(s.ansible.extraVars) }) },
  webhooks: masked(s.webhooks),
});

/** Places where two sets differ, e.g. `detection.interval`; lists as a whole. Names only: values may be secret. */
export function changedPaths(before: unknown, after: unknown, at = ''): string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  const [was, is] = [before ?? {}, after ?? {}];
  if (!isMapping(was) || !isMapping(is)) return [at];
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])];
  if (names.length === 0) return [at];
  return names.flatMap((name) => changedPaths(was[name], is[name], at === '' ? name : `${at}.${name}`)).sort();
}
