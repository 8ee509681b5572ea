import { checkVariableNames } from '#contracts';
import { ansibleYaml } from './ansible-yaml.js';

export interface ExtraVars {
  /** From the configuration file of the service: its owner may use templates. Lowest. */
  configuration: Record<string, unknown>;
  globals: Record<string, unknown>;
  /** Of the request. */
  request: Record<string, unknown>;
  /** Muster's own, of this run. Highest. */
  run: Record<string, unknown>;
}

/**
 * The file for `-e @file`. Top-level keys replace, nested maps are not merged: configuration < globals < request.
 * @throws BAD_REQUEST
 */
export function extraVarsFile(vars: ExtraVars): string {
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
  put(vars.configuration, 'ansible.extraVars', true);
  put(vars.globals, 'globals', false);
  put(vars.request, 'extra-vars', false);
  put(vars.run, 'run', false);
  return `---\n{${[...lines.values()].join(',\n')}}\n`;
}
