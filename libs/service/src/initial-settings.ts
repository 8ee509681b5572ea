import {
  checkDetection,
  defaultFencing,
  defaultSettings,
  DetectionProfiles,
  MusterError,
  readStorm,
  type ClusterSettings,
  type DetectionSettings,
  type FencingSettings,
} from '#contracts';

const wrong = (message: string): MusterError => new MusterError('SETTINGS_INVALID', message);

/**
 * The `initial` part of a configuration: any of the cluster's settings; `detection` and `fencing` may name only what
 * differs from the profile and the defaults. SETTINGS_INVALID names what is wrong.
 */
export function readInitialSettings(given: Partial<Record<keyof ClusterSettings, unknown>>): Partial<ClusterSettings> {
  const known = defaultSettings('x');
  for (const [name, value] of Object.entries(given)) {
    if (!(name in known)) throw wrong(`${name} is not a setting`);
    const must = known[name as keyof ClusterSettings];
    const same = typeof value === typeof must && Array.isArray(value) === Array.isArray(must) && value !== null;
    if (!same) throw wrong(`${name} must be ${Array.isArray(must) ? 'a list' : `of type ${typeof must}`}`);
  }
  const out = { ...given } as Partial<ClusterSettings>;
  if (given.detection !== undefined) out.detection = detection(given.detection as Partial<DetectionSettings>);
  if (given.fencing !== undefined) out.fencing = fencing(given.fencing as Partial<FencingSettings>);
  for (const name of ['agentPort', 'leaveGrace', 'holdDown'] as const) {
    const n = out[name];
    if (n !== undefined && !(Number.isInteger(n) && n >= 0 && (name !== 'agentPort' || (n > 0 && n < 65536))))
      throw wrong(`${name} (${n}) is out of range`);
  }
  for (const group of out.hostGroups ?? [])
    if (typeof group?.name !== 'string' || !['master', 'worker', 'none'].includes(group.role))
      throw wrong('hostGroups: each needs a name and a role (master, worker or none)');
  return out;
}

function detection(given: Partial<DetectionSettings>): DetectionSettings {
  const profile = DetectionProfiles[given.profile ?? 'lan'];
  if (!profile) throw wrong(`detection.profile must be one of ${Object.keys(DetectionProfiles).join(', ')}`);
  refuseUnknown(given, profile, 'detection');
  return checkDetection({ ...profile, ...given });
}

function fencing(given: Partial<FencingSettings>): FencingSettings {
  refuseUnknown(given, { ...defaultFencing, paused: undefined }, 'fencing');
  const out = { ...defaultFencing, ...given };
  if (given.storm !== undefined) out.storm = readStorm(given.storm);
  const oneOf = (name: string, value: string, of: string[]): void => {
    if (!of.includes(value)) throw wrong(`fencing.${name} must be ${of.join(' or ')}`);
  };
  oneOf('mode', out.mode, ['observe', 'enforce']);
  oneOf('hung', out.hung, ['alarm', 'fence']);
  oneOf('afterRecovery', out.afterRecovery, ['power-on', 'stay-off']);
  return out;
}

function refuseUnknown(given: object, known: object, part: string): void {
  for (const name of Object.keys(given)) if (!(name in known)) throw wrong(`${part}.${name} is not a setting`);
}
