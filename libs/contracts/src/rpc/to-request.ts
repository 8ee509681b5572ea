import { plainToInstance } from 'class-transformer';
import { MusterError } from '../errors/errors.js';

/**
 * What somebody sent, as its class has it, for the validators. class-transformer leaves out what every object inherits
 * by name (`toString`, `valueOf`): a mapping of free names is taken as it came, and in a class there is no such member.
 * @throws MusterError BAD_REQUEST
 */
export function toRequest<T extends object>(target: new () => T, plain: object): T {
  const made = plainToInstance(target, plain);
  restore(made, plain);
  return made;
}

function restore(made: object, plain: object): void {
  const [to, from] = [made, plain] as [Record<string, unknown>, Record<string, unknown>];
  for (const name of Object.keys(from)) {
    if (name in Object.prototype) {
      const finding = `property ${name} should not exist`;
      throw new MusterError('BAD_REQUEST', finding, { findings: [finding] });
    }
    to[name] = asItCame(to[name], from[name]);
  }
}

function asItCame(made: unknown, plain: unknown): unknown {
  if (!isObject(made) || !isObject(plain)) return made;
  if (Array.isArray(made)) return Array.isArray(plain) ? plain.map((item, i) => asItCame(made[i], item)) : made;
  if (Object.getPrototypeOf(made) === Object.prototype) return plain;
  restore(made, plain);
  return made;
}

const isObject = (x: unknown): x is object => typeof x === 'object' && x !== null;
