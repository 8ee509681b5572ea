import { isSecretName } from '#contracts';

/** Shorter ones would blacken half a log, and protect nothing. */
const SHORTEST = 4;

/** Values of variables whose names say that they are secret, at any depth. */
export function secretsOf(variables: unknown, secret = false): string[] {
  if (typeof variables === 'string') return secret && variables.length >= SHORTEST ? [variables] : [];
  if (typeof variables === 'number') return secret && String(variables).length >= SHORTEST ? [String(variables)] : [];
  if (Array.isArray(variables)) return variables.flatMap((v) => secretsOf(v, secret));
  if (typeof variables !== 'object' || variables === null) return [];
  return Object.entries(variables).flatMap(([name, v]) => secretsOf(v, secret || isSecretName(name)));
}

/** Replaces the secrets in a text, as they are and as JSON and Python print them. */
export function masker(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(
    secrets.flatMap((s) => {
      const json = JSON.stringify(s).slice(1, -1);
      return [s, json, json.replaceAll("'", "\\'"), ...s.split('\n').filter((line) => line.length >= SHORTEST * 2)];
    }),
  );
  if (forms.size === 0) return (text) => text;
  // Longest first: a secret that contains another must not leave its rest behind.
  const alternatives = [...forms]
    .sort((a, b) => b.length - a.length)
    .map((f) => f.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(alternatives.join('|'), 'g');
  return (text) => text.replace(pattern, '********');
}
