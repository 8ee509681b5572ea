const SECRET_NAME =
  /pass|pwd|secret|token|key|credential|psk|auth(?!or(?!iz|is))|community|dsn|bearer|cookie|jwt|(?<![a-z])(?:pw|pin|otp|salt|seed|creds?)(?![a-z])/i;

/**
 * Does a variable's name say that its value is secret? One answer for what is shown, logged and sealed. Wide on
 * purpose: a path that is hidden costs a look at the configuration, a key that is shown costs the key.
 */
export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);

/** {@link isSecretName} as a pattern, upper and lower case alike, for who must ask elsewhere: Python reads it the same. */
export const secretNamePattern: string = SECRET_NAME.source;

const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/;
/** `password=…`, `"api_key": "…"`, `--token …`, `Authorization: …`, as they stand in longer texts. */
const ASSIGNMENT =
  /(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|authorization)[a-z_]{0,12}["']?\s{0,3}[=:]\s{0,3}["']?[^\s"',;]/i;
const BEARER = /\bBearer\s{1,3}[A-Za-z0-9._~+/=-]{8}/;

/** Does a private key begin in it? */
export const beginsPrivateKey = (text: string): boolean => PRIVATE_KEY.test(text);

/** How a secret begins that is stored sealed where it stands. */
export const SEALED = 'muster-sealed:1:';

/** Does any of these texts stand sealed? */
export const hasSealed = (texts: Readonly<Record<string, string>> = {}): boolean =>
  Object.values(texts).some((text) => text.startsWith(SEALED));

/** Does a text show by itself that it is secret, or holds a secret, whatever its name is? */
export const isSecretText = (text: string): boolean =>
  text.startsWith(SEALED) ||
  PRIVATE_KEY.test(text) ||
  ASSIGNMENT.test(text) ||
  BEARER.test(text) ||
  passwordsInUrls(text).length > 0;

/** Passwords that stand in the URLs of a text: `postgres://user:PASSWORD@host`, `https://TOKEN@host`. */
export function passwordsInUrls(text: string): string[] {
  const found: string[] = [];
  // Each piece is looked at once: a text of a megabyte may be full of beginnings.
  for (let at = text.indexOf('://'); at !== -1;) {
    const rest = /^[^\s"'<>]*/.exec(text.slice(at + 3))?.[0] ?? '';
    const [, user = '', password] = /^([^:@/?#]*)(?::((?!\d{1,5}\/)[^@]+))?@/.exec(rest) ?? [];
    const isHttp = /https?$/i.test(text.slice(Math.max(0, at - 5), at));
    if (password !== undefined) found.push(password);
    else if (isHttp && user !== '') found.push(user);
    at = text.indexOf('://', at + 3 + rest.length);
  }
  return found;
}
