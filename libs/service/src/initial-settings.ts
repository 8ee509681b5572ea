import { checkSettings, defaultSettings, patchedSettings, type ClusterSettings } from '#contracts';

/**
 * The `initial` part of a configuration: any of the cluster's settings, as a patch of the defaults; `detection` and
 * `fencing` may name only what differs from the profile and the defaults.
 * @throws MusterError SETTINGS_INVALID names what is wrong
 */
export function readInitialSettings(given: Partial<Record<keyof ClusterSettings, unknown>>): Partial<ClusterSettings> {
  const whole = checkSettings(patchedSettings(defaultSettings('initial'), given));
  return Object.fromEntries(Object.entries(whole).filter(([name]) => name in given));
}
