import { MusterError } from '#contracts';
import { ansibleYaml } from './ansible-yaml.js';

/** Set by Muster itself for each host or run. */
const OWN = /^muster_(node|host_group|role|networks|job|run|recover|verify|effective|environment)$/;

/** The ones that a node may need to be reached; all others could turn a variable into a command on this machine. */
const CONNECTION = new Set([
  'ansible_port',
  'ansible_user',
  'ansible_become',
  'ansible_become_user',
  'ansible_become_method',
  'ansible_python_interpreter',
]);

/** A variable's name as Ansible takes it, and nothing that Muster or the connection rests on. @throws BAD_REQUEST */
export function checkVariableNames(variables: Record<string, unknown>, whose: string): void {
  for (const name of Object.keys(variables)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw refused(whose, name, 'letters, digits and underscores make a variable’s name');
    if (OWN.test(name)) throw refused(whose, name, 'it is set by Muster');
    if (name.startsWith('ansible_') && !CONNECTION.has(name))
      throw refused(whose, name, 'it would change how, or on which machine, commands are run');
  }
}

const refused = (whose: string, name: string, why: string): MusterError =>
  new MusterError('BAD_REQUEST', `${whose}: the variable ${JSON.stringify(name)} is refused: ${why}`, { name });

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
