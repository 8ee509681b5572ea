import { MusterError } from '../errors.js';

/** Set by Muster itself for each host or run. */
const OWN =
  /^muster_(node|host_group|role|networks|job|run|recover|agent|agents|agent_archive|verify|effective|environment)$/;

/** The ones that a node may need to be reached; all others could turn a variable into a command on the control machine. */
const CONNECTION = new Set([
  'ansible_port',
  'ansible_user',
  'ansible_become',
  'ansible_become_user',
  'ansible_become_method',
  'ansible_python_interpreter',
]);

/** Names as Ansible takes them, and nothing that Muster or the connection rests on. @throws MusterError BAD_REQUEST */
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
