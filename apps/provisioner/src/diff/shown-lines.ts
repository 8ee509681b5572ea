import { beginsPrivateKey, isSecretName, isSecretText, MASK } from '#contracts';
import { masker } from './masking.js';

/** What must not be seen of a text. */
export interface Hidden {
  mask: (text: string) => string;
  /** Lines of known secrets that have several, without what stands around them. */
  lines: ReadonlySet<string>;
}

export const hiddenOf = (secrets: readonly string[]): Hidden => ({
  mask: masker(secrets),
  lines: new Set(
    secrets
      .filter((s) => s.trim().includes('\n'))
      .flatMap((s) => s.split('\n').map((line) => line.trim()))
      .filter((line) => line !== ''),
  ),
});

const KEY_ENDS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/;

/**
 * Lines of one text as they may be shown, one for each: a known secret in a line is masked, a line that shows by itself
 * that it holds one is hidden whole, and so is every line of a private key.
 */
export function shownLines(lines: readonly string[], hidden: Hidden): string[] {
  let isKey = false;
  return lines.map((line, i) => {
    const before = lines[i - 1]?.trim() ?? '';
    const wasKey = isKey;
    isKey = (isKey || beginsPrivateKey(line)) && !KEY_ENDS.test(line);
    // A name, and its value on the next line.
    const isValue = !isSecretText(before) && isSecretText(`${before}\n${line.trim()}`);
    const isHidden = wasKey || isSecretText(line) || isNamedSecret(line) || isValue || hidden.lines.has(line.trim());
    return isHidden ? MASK : hidden.mask(line);
  });
}

/** `psk=…`, `requirepass …`, `auth_key: …`: its first word is a secret's name, and a value follows. */
const isNamedSecret = (line: string): boolean => {
  const [, name] = /^[^\w]*([\w.-]+)(?:\s*[=:]\s*|\s+)\S/.exec(line) ?? [];
  return name !== undefined && isSecretName(name);
};

/** Of a line that is shown: what would steer a terminal is written out. */
export const printable = (line: string): string =>
  line.replace(/[\p{Cc}\u2028\u2029]/gu, (c) =>
    c === '\t' ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
