/** How a workload is started and stopped elsewhere: those that a provisioner carries out. */
export const RecoveryDrivers = ['ansible'] as const;
export type RecoveryDriver = (typeof RecoveryDrivers)[number];

/** systemd's `Restart=`, as far as the playbook takes it. */
export const Restarts = ['no', 'always', 'on-failure', 'on-abnormal', 'on-success'] as const;

/** Text without control characters. */
export const PLAIN = /^[^\p{Cc}]*$/u;
const COMMAND = /^\/[^\p{Cc}]*$/u;
/** The first word of a list is the program: neither quoted nor expanded. */
const PROGRAM = /^\/[^\s%$"'\\\p{Cc}]+$/u;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

const isText = (value: unknown, pattern: RegExp): boolean => typeof value === 'string' && pattern.test(value);

/** A command line, or the list of its words, which begins with an absolute path and holds no control character. */
export function isCommand(value: unknown): boolean {
  if (!Array.isArray(value)) return isText(value, COMMAND);
  return isText(value[0], PROGRAM) && value.every((word) => isText(word, PLAIN));
}

/** Variables by name, each a text, number or boolean without control characters. */
export function isEnvironment(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([name, inner]) =>
      VARIABLE.test(name) && ['string', 'number', 'boolean'].includes(typeof inner) && PLAIN.test(String(inner)),
  );
}
