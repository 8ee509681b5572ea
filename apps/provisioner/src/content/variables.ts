import { checkRunVariables, checkVariables, splitConnection } from '#contracts';
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

export interface RunVariables {
  /** The file for `-e @file`. */
  file: string;
  /** How hosts are reached, on top of what each says of itself. */
  connection: Record<string, unknown>;
}

/**
 * The variables of a run. Top-level keys replace, nested maps are not merged: configuration < settings < globals <
 * request.
 * @throws BAD_REQUEST
 */
export function variablesOfRun(vars: ExtraVars): RunVariables {
  // What the file of the configuration says may be said again.
  const own = vars.configuration;
  const changed = Object.entries(vars.settings).filter(([name, v]) => JSON.stringify(own[name]) !== JSON.stringify(v));
  checkRunVariables(Object.fromEntries(changed), 'ansible.extraVars');
  checkVariables(vars.globals, 'globals');
  checkVariables(vars.request, 'extra-vars');
  const lines = new Map<string, string>();
  const put = (from: Record<string, unknown>, whose: string, trusted: boolean): void => {
    for (const [name, value] of Object.entries(from)) {
      if (value === undefined) continue;
      const key = ansibleYaml(name, { trusted: true }, whose);
      lines.set(name, `${key}: ${ansibleYaml(value, { trusted }, `${whose}.${name}`)}`);
    }
  };
  const connection: Record<string, unknown> = {};
  const putForeign = (from: Record<string, unknown>, whose: string): void => {
    const parts = splitConnection(from);
    Object.assign(connection, parts.connection);
    put(parts.others, whose, false);
    // What the configuration says of it holds for the whole run, and would go first.
    for (const name of Object.keys(parts.connection)) lines.delete(name);
  };
  put(own, 'ansible.extraVars', true);
  const given = changed.filter(([, value]) => value !== null);
  for (const [name, value] of changed) if (value === null) lines.delete(name);
  putForeign(Object.fromEntries(given), 'ansible.extraVars');
  putForeign(vars.globals, 'globals');
  putForeign(vars.request, 'extra-vars');
  put(vars.run, 'run', false);
  return { file: `---\n{${[...lines.values()].join(',\n')}}\n`, connection };
}
