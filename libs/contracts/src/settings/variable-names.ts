import { MusterError } from '../errors/errors.js';

/** Set by Muster itself for each host or run. */
const OWN =
  /^muster_(node|host_group|role|networks|job|run|recover|agent|agents|agent_archive|verify|effective|environment|services?|service_roles|service_effective|only|mode|unchecked)$/;

const USER = /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/;
const YES_OR_NO = /^(?:true|false|yes|no|on|off)$/i;
/** No arguments, no way up, and only folders into which not everybody may write. */
const INTERPRETER =
  /^(?:auto(?:_legacy)?(?:_silent)?|\/(?:(?:usr|opt|nix|run\/current-system)\/(?:[A-Za-z0-9_+-][A-Za-z0-9_.+-]*\/)*|bin\/)(?:platform-)?python[0-9.]*)$/;

/** The only ones by which a host may be reached otherwise: none of their values is a command, or names a file of one's own. */
const CONNECTION: Record<string, (value: unknown) => boolean> = {
  ansible_port: (v) => /^[0-9]{1,5}$/.test(String(v)) && Number(v) >= 1 && Number(v) <= 65_535,
  ansible_user: (v) => typeof v === 'string' && USER.test(v),
  ansible_become: (v) => typeof v === 'boolean' || (typeof v === 'string' && YES_OR_NO.test(v)),
  ansible_become_user: (v) => typeof v === 'string' && USER.test(v),
  ansible_become_method: (v) => typeof v === 'string' && /^(?:sudo|su|doas|dzdo|pbrun|pfexec|machinectl)$/.test(v),
  ansible_python_interpreter: (v) => typeof v === 'string' && INTERPRETER.test(v),
};

const isConnection = (name: string): boolean => Object.hasOwn(CONNECTION, name);

/**
 * Names as Ansible takes them, and nothing that Muster or a connection rests on; no templates in the names of members.
 * How a host is reached may be said by values that are no commands: see {@link splitConnection}.
 * @throws MusterError BAD_REQUEST
 */
export function checkVariables(variables: Record<string, unknown>, whose: string): void {
  for (const [name, value] of Object.entries(variables)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw refused(whose, name, 'letters, digits and underscores make a variable’s name');
    if (OWN.test(name)) throw refused(whose, name, 'it is set by Muster');
    if (isConnection(name)) {
      if (CONNECTION[name]?.(value) !== true)
        throw refused(whose, name, `${JSON.stringify(value)} is not a value that it may have`);
    } else if (name.startsWith('ansible_'))
      throw refused(whose, name, 'it would change how, or on which machine, commands are run');
    else checkMemberNames(value, `${whose}.${name}`);
  }
}

/**
 * Those that say how a host is reached, and the others. The first are given to Ansible as variables of its hosts: for
 * the whole run they would hold for the control machine as well, wherever the content asks something there.
 */
export function splitConnection(variables: Record<string, unknown>): {
  connection: Record<string, unknown>;
  others: Record<string, unknown>;
} {
  const all = Object.entries(variables);
  return {
    connection: Object.fromEntries(all.filter(([name]) => isConnection(name))),
    others: Object.fromEntries(all.filter(([name]) => !isConnection(name))),
  };
}

/** Ansible takes the name of a member for a template where content goes through members. @throws MusterError BAD_REQUEST */
export function checkMemberNames(value: unknown, whose: string): void {
  // By a list and not by recursion: nothing says yet how deep it is.
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [name, inner] of Object.entries(next)) {
      if (name.includes('{'))
        throw refused(whose, name, 'the name of a member must hold no {, which Ansible could take for a template');
      left.push(inner);
    }
  }
}

const refused = (whose: string, name: string, why: string): MusterError =>
  new MusterError('BAD_REQUEST', `${whose}: the variable ${JSON.stringify(name)} is refused: ${why}`, { name });
