import { isSecretName, isSecretText, passwordsInUrls } from '#contracts';

/** Shorter ones would blacken half a log, and protect nothing. */
const SHORTEST = 4;
/** Of a piece of base64 that must hold a secret, whatever stands around it. */
const SHORTEST_PIECE = 8;

/** Values of variables that are secret, by their names or as their texts show, at any depth. */
export function secretsOf(variables: unknown, secret = false): string[] {
  if (typeof variables === 'string') return secretsIn(variables, secret).filter((text) => text.length >= SHORTEST);
  if (typeof variables === 'number') return secret && String(variables).length >= SHORTEST ? [String(variables)] : [];
  if (Array.isArray(variables)) return variables.flatMap((v) => secretsOf(v, secret));
  if (typeof variables !== 'object' || variables === null) return [];
  return Object.entries(variables).flatMap(([name, v]) => secretsOf(v, secret || isSecretName(name)));
}

/** The password of a URL is shown without the URL, too. */
const secretsIn = (text: string, secret: boolean): string[] =>
  secret || isSecretText(text) ? [text, ...passwordsInUrls(text)] : [];

/** Replaces the secrets in a text, as they are, as JSON and Python print them, percent-encoded, and as base64. */
export function masker(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(
    secrets.flatMap((s) => {
      const json = JSON.stringify(s).slice(1, -1);
      const lines = s.split('\n').filter((line) => line.length >= SHORTEST * 2);
      const plain = [s, json, json.replaceAll("'", "\\'"), percentEncoded(s), ...lines];
      return [...plain, ...[s, `${s}\n`].flatMap(base64Of)];
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

/** Half of a surrogate pair cannot be encoded: it goes out as the character that stands for none. */
const percentEncoded = (text: string): string => encodeURIComponent(Buffer.from(text).toString());

/**
 * A secret as base64 by itself, and what of it is the same wherever in a longer text it begins: of `user:secret` or of a
 * whole file. Each is there in both alphabets.
 */
function base64Of(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const alone = bytes.toString('base64');
  const within = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // What its first and last character hold is mixed with what stands before and behind.
    const first = before === 0 ? 0 : before + 1;
    const rest = (before + bytes.length) % 3;
    return text.slice(first, rest === 0 ? text.length : text.length - 1);
  });
  const pieces = [alone, alone.replace(/=+$/, ''), ...within].filter((piece) => piece.length >= SHORTEST_PIECE);
  return pieces.flatMap((piece) => [piece, piece.replaceAll('+', '-').replaceAll('/', '_')]);
}
