import type { AnsibleSettings } from '#contracts';
import type { AnsibleConfig } from './config.js';

/** The Ansible configuration as of now: that of `muster.yaml`, and what was changed at run time on top. */
export function effectiveAnsible(config: AnsibleConfig, settings: AnsibleSettings): AnsibleConfig {
  const { extraVars, upgradePlaybook: _unused, ...given } = settings;
  return { ...config, ...given, extraVars: effectiveVars(config.extraVars, extraVars) };
}

/** Top-level names replace; `null` takes one away. */
function effectiveVars(
  config: Record<string, unknown>,
  settings: Record<string, unknown> = {},
): Record<string, unknown> {
  const all = Object.entries({ ...config, ...settings });
  return Object.fromEntries(all.filter(([name, value]) => !(value === null && name in settings)));
}
