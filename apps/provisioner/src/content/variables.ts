import { checkRunVariables, checkVariableNames } from '#contracts';
import { ansibleYaml } from './ansible-yaml.js';

export interface ExtraVars {
  /** From the configuration file of the service: its owner may use templates. Lowest. */
  configuration: Record<string, unknown>;
  /** Changed at run time, on top of it; `null` takes a variable away. No templates. */
  settings: Record<string, unknown>;
  globals: Record<string, unknown>;
  /** Of the request. */
  request: Record<string, unknown>;
  /** Muster's own, of this run. Highest. */
  run: Record<string, unknown>;
}

/**
 * The file for `-e @file`. Top-level keys replace, nested maps are not merged: configuration < settings < globals <
 * request.
 * @throws BAD_REQUEST
 */
export function extraVarsFile(vars: ExtraVars): string {
  // What the file of the configuration says may be said again.
  const own = vars.configuration;
  const changed = Object.entries(vars.settings).filter(([name, v]) => JSON.stringify(own[name]) !== JSON.stringify(v));
  checkRunVariables(Object.fromEntries(changed), 'ansible.extraVars');
  checkVariableNames(vars.globals, 'globals');
  checkVariableNames(vars.request, 'extra-vars');
  const lines = new Map<string, string>();
  const put = (from: Record<string, unknown>, whose: string, trusted: boolean): void => {
    for (const [name, value] of Object.entries(from)) {
      if (value === undefined) continue;
      const key = ansibleYaml(name, { trusted: true }, whose);
      lines.set(name, `${key}: ${ansibleYaml(value, { trusted }, `${whose}.${name}`)}`);
    }
  };
  put(own, 'ansible.extraVars', true);
  put(Object.fromEntries(changed), 'ansible.extraVars', false);
  for (const [name, value] of changed) if (value === null) lines.delete(name);
  put(vars.globals, 'globals', false);
  put(vars.request, 'extra-vars', false);
  put(vars.run, 'run', false);
  return `---\n{${[...lines.values()].join(',\n')}}\n`;
}
