import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type ValidationError, validateSync } from 'class-validator';
import { MusterError } from '#contracts';
import { NodePatchRequest } from '#contracts/rpc/requests.js';
import { SettingsPatchRequest } from '#contracts/settings/settings-request.js';
import { toRequest } from '#contracts/rpc/to-request.js';
import { bodyText, parseJsonText } from './json-text.js';

type Class = new () => object;

/** Names in a path: nodes, jobs, workloads, `code=subject` of an alarm. */
const PATH_NAME = /^[A-Za-z0-9][A-Za-z0-9._:=@-]{0,254}$/;

/** Bodies in which null means something else than absent. */
const mergePatches: ReadonlySet<Class> = new Set<Class>([NodePatchRequest, SettingsPatchRequest]);

/** The validators take null for absent where a member may be; so does everything behind them. */
function withoutNulls(body: object): object {
  for (const [name, value] of Object.entries(body)) if (value === null) Reflect.deleteProperty(body, name);
  return body;
}

/** Everything of a `/v1` request that a class describes is checked against it, and refused whole where anything is off. */
@Injectable()
export class CheckedPipe implements PipeTransform<unknown, unknown> {
  transform(value: unknown, meta: ArgumentMetadata): unknown {
    if (meta.type === 'param') return checkName(value, meta.data);
    if (meta.metatype === undefined || meta.metatype === Object) return value;
    const target = meta.metatype as Class;
    if (meta.type === 'body') {
      const body = checked(target, Buffer.isBuffer(value) && value.length > 0 ? parseJsonText(bodyText(value)) : {});
      return mergePatches.has(target) ? body : withoutNulls(body);
    }
    if (meta.type === 'query') return checked(target, value);
    return value;
  }
}

function checkName(value: unknown, what = 'name'): unknown {
  if (typeof value === 'string' && PATH_NAME.test(value)) return value;
  throw new MusterError('NOT_FOUND', `"${String(value).slice(0, 80)}" cannot be a ${what}`);
}

/** @throws MusterError BAD_REQUEST with one sentence per finding, also in `facts.findings`. */
export function checked<T extends object>(target: new () => T, value: unknown): T {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MusterError('BAD_REQUEST', 'the body must be a JSON object');
  const instance = toRequest(target, value);
  const findings = validateSync(instance, {
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: false },
  }).flatMap((e) => sentences(e));
  if (findings.length > 0) throw new MusterError('BAD_REQUEST', findings.join('; '), { findings });
  return instance;
}

function sentences(error: ValidationError, path = ''): string[] {
  const here = path === '' ? error.property : `${path}.${error.property}`;
  const own = Object.values(error.constraints ?? {}).map((text) =>
    path === '' ? text : text.replace(error.property, here),
  );
  return [...own, ...(error.children ?? []).flatMap((child) => sentences(child, here))];
}
