/**
 * What Go's encoding/json says of a text that is not JSON: clients of the clusterm surface match on these sentences.
 * A recursive descent over the grammar that stops at the first wrong character.
 */
export function goSyntaxError(text: string): string | undefined {
  try {
    new Scanner(text).document();
    return undefined;
  } catch (error) {
    if (error instanceof Wrong) return error.message;
    throw error;
  }
}

class Wrong extends Error {}

const quoted = (char: string): string =>
  char === "'" ? `'\\''` : char === '"' ? `'"'` : `'${JSON.stringify(char).slice(1, -1)}'`;
const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9';

class Scanner {
  private at = 0;
  private depth = 0;

  constructor(private readonly text: string) {}

  document(): void {
    this.space();
    this.value();
    this.space();
    if (this.at < this.text.length) this.wrong('after top-level value');
  }

  /** A method, since a property would be narrowed by a comparison and the position moves in between. */
  private char(): string | undefined {
    return this.text[this.at];
  }

  private wrong(where: string): never {
    const char = this.char();
    throw new Wrong(char === undefined ? 'unexpected end of JSON input' : `invalid character ${quoted(char)} ${where}`);
  }

  private space(): void {
    while (this.char() === ' ' || this.char() === '\t' || this.char() === '\n' || this.char() === '\r') this.at++;
  }

  private value(): void {
    const char = this.char();
    if (char === '{' || char === '[') {
      // Go's own limit is 10,000; the deeper is only refused later, and would take our stack.
      if (++this.depth > 1000) throw new Wrong('exceeded max depth');
      if (char === '{') this.object();
      else this.array();
      this.depth--;
      return;
    }
    if (char === '"') return this.string();
    if (char === '-' || isDigit(char)) return this.number();
    const literal = ['true', 'false', 'null'].find((word) => word[0] === char);
    if (literal === undefined) this.wrong('looking for beginning of value');
    for (const letter of literal) {
      if (this.char() !== letter) this.wrong(`in literal ${literal} (expecting '${letter}')`);
      this.at++;
    }
  }

  private object(): void {
    this.at++;
    this.space();
    if (this.char() === '}') return void this.at++;
    for (;;) {
      if (this.char() !== '"') this.wrong('looking for beginning of object key string');
      this.string();
      this.space();
      if (this.char() !== ':') this.wrong('after object key');
      this.at++;
      this.space();
      this.value();
      this.space();
      if (this.char() === '}') return void this.at++;
      if (this.char() !== ',') this.wrong('after object key:value pair');
      this.at++;
      this.space();
    }
  }

  private array(): void {
    this.at++;
    this.space();
    if (this.char() === ']') return void this.at++;
    for (;;) {
      this.value();
      this.space();
      if (this.char() === ']') return void this.at++;
      if (this.char() !== ',') this.wrong('after array element');
      this.at++;
      this.space();
    }
  }

  private string(): void {
    this.at++;
    for (; this.char() !== '"'; this.at++) {
      if ((this.char() ?? '') < ' ') this.wrong('in string literal');
      if (this.char() !== '\\') continue;
      this.at++;
      if (this.char() === 'u') for (let i = 0; i < 4; i++) this.hexDigit();
      else if (!/^["\\/bfnrt]$/.test(this.char() ?? '')) this.wrong('in string escape code');
    }
    this.at++;
  }

  private hexDigit(): void {
    this.at++;
    if (!/^[0-9a-fA-F]$/.test(this.char() ?? '')) this.wrong('in \\u hexadecimal character escape');
  }

  private number(): void {
    if (this.char() === '-') this.at++;
    if (this.char() === '0') this.at++;
    else this.digits('in numeric literal');
    if (this.char() === '.') {
      this.at++;
      this.digits('after decimal point in numeric literal');
    }
    if (this.char() === 'e' || this.char() === 'E') {
      this.at++;
      if (this.char() === '+' || this.char() === '-') this.at++;
      this.digits('in exponent of numeric literal');
    }
  }

  private digits(where: string): void {
    if (!isDigit(this.char())) this.wrong(where);
    while (isDigit(this.char())) this.at++;
  }
}

/** Go's name for the kind of a JSON value, as it stands in its texts. */
export const goKind = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
};
