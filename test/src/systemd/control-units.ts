import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const units = join(root, 'deploy', 'systemd');
/** Of a control machine. */
export const services = readdirSync(units).filter((name) => name.endsWith('.service'));
/** But for NATS. */
export const ours = services.filter((name) => name !== 'muster-control-nats.service');
const COMMON = join('muster-control-.service.d', '10-common.conf');

const dropIns = (unit: string): string[] =>
  existsSync(join(units, `${unit}.d`))
    ? readdirSync(join(units, `${unit}.d`)).map((name) => join(`${unit}.d`, name))
    : [];

/** What a unit says, and then what its drop-ins say, as systemd reads them: [key, value] in order. */
export const settings = (unit: string): [string, string][] =>
  [unit, COMMON, ...dropIns(unit)].flatMap((file) =>
    readFileSync(join(units, file), 'utf8')
      .split('\n')
      .flatMap((line): [string, string][] => {
        const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
        return key === undefined ? [] : [[key, value ?? '']];
      }),
  );
/** Every value of this key, in order. */
export const all = (unit: string, wanted: string): string[] =>
  settings(unit).flatMap(([key, value]) => (key === wanted ? value.split(' ') : []));
