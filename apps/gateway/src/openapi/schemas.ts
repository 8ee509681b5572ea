import { plainToInstance } from 'class-transformer';
import { getMetadataStorage } from 'class-validator';
import { MusterError } from '#contracts';

export type Schema = Record<string, unknown>;
type Class = abstract new (...args: never[]) => object;
type Rule = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

const pattern = (p: unknown): string => (p instanceof RegExp ? p.source : String(p));

/** What each validator of the request classes says in JSON Schema. */
const words: Record<string, (constraints: readonly unknown[]) => Schema> = {
  isString: () => ({ type: 'string' }),
  isInt: () => ({ type: 'integer' }),
  isNumber: () => ({ type: 'number' }),
  isBoolean: () => ({ type: 'boolean' }),
  isObject: () => ({ type: 'object' }),
  isArray: () => ({ type: 'array' }),
  isIn: ([values]) => ({ enum: values }),
  matches: ([p]) => ({ type: 'string', pattern: pattern(p) }),
  isLength: ([min, max]) => ({ type: 'string', minLength: min, maxLength: max }),
  maxLength: ([max]) => ({ type: 'string', maxLength: max }),
  min: ([min]) => ({ minimum: min }),
  max: ([max]) => ({ maximum: max }),
  arrayNotEmpty: () => ({ minItems: 1 }),
  isCommand: () => ({ oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }] }),
  isEnvironment: () => ({ type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } }),
  arrayMaxSize: ([max]) => ({ maxItems: max }),
};

/**
 * JSON Schema of a request class, read from the very rules that check its requests: the reference cannot say anything
 * else than what is enforced.
 * @throws MusterError INTERNAL for a validator that this page does not know, so that none is left out in silence.
 */
export function schemaOf(target: Class): Schema {
  const rules = getMetadataStorage().getTargetValidationMetadatas(target, '', false, false);
  const properties: Record<string, Schema> = {};
  const optional = new Set<string>();
  for (const rule of rules) {
    const property = (properties[rule.propertyName] ??= {});
    if (rule.type === 'conditionalValidation') optional.add(rule.propertyName);
    else if (rule.type === 'nestedValidation') addNested(property, nestedClass(target, rule.propertyName), rule.each);
    else if (rule.type !== 'whitelistValidation') addWord(property, rule, target);
  }
  for (const property of Object.values(properties)) settle(property);
  const required = Object.keys(properties).filter((name) => !optional.has(name));
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

function addWord(property: Schema, rule: Rule, target: Class): void {
  const say = words[rule.name ?? ''];
  if (say === undefined)
    throw new MusterError('INTERNAL', `${target.name}.${rule.propertyName}: no JSON Schema for validator ${rule.name}`);
  const said = say(rule.constraints ?? []);
  if (rule.each) property['items'] = { ...(property['items'] as Schema | undefined), ...said };
  else Object.assign(property, said);
}

function addNested(property: Schema, nested: Class, each: boolean): void {
  const ref = { $ref: `#/components/schemas/${nested.name}` };
  if (each) property['items'] = ref;
  else Object.assign(property, ref);
}

/** A list of which nothing else is known than its items is a list all the same. */
function settle(property: Schema): void {
  if (property['items'] !== undefined) property['type'] = 'array';
  if (property['type'] === 'array') property['items'] ??= {};
}

/** The class behind `@Type(() => X)`: what class-transformer makes of an empty object there. */
function nestedClass(target: Class, property: string): Class {
  const made = (plainToInstance(target as new () => object, { [property]: {} }) as Record<string, object>)[property];
  if (made === undefined || made.constructor === Object)
    throw new MusterError('INTERNAL', `${target.name}.${property}: a nested object needs @Type(() => …)`);
  return made.constructor as Class;
}
