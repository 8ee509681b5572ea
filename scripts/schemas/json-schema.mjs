import ts from 'typescript';

/**
 * JSON Schema of TypeScript types, as far as the contracts use them: what is answered and what is published is
 * described by the very types that the code is checked against. Objects stay open: a later version may add members.
 */
export class TypeSchemas {
  /** Named types by name, as they were met. */
  definitions = {};
  #checker;
  #names = new Map();
  #refer;

  /** `refer`: name → `$ref`. */
  constructor(checker, refer) {
    this.#checker = checker;
    this.#refer = refer;
  }

  /** @throws Error for a kind of type that this page does not know, so that none is left out in silence. */
  of(type) {
    const name = this.#nameOf(type);
    if (name === undefined) return this.#inline(type);
    if (this.#names.get(name) === undefined) {
      this.#names.set(name, type);
      this.definitions[name] = undefined;
      this.definitions[name] = { ...describe(type.symbol, this.#checker), ...this.#inline(type) };
    }
    if (this.#names.get(name) !== type) throw new Error(`two types are called ${name}`);
    return { $ref: this.#refer(name) };
  }

  /** Members of an object type, each with its schema. */
  members(type) {
    return this.#checker
      .getPropertiesOfType(type)
      .map((symbol) => [symbol.name, this.#checker.getTypeOfSymbol(symbol)]);
  }

  /** Interfaces of ours have their names; everything else is said where it stands. */
  #nameOf(type) {
    const { symbol } = type;
    const declaration = symbol?.declarations?.[0];
    if (declaration === undefined || !ts.isInterfaceDeclaration(declaration)) return undefined;
    if (declaration.typeParameters !== undefined || /node_modules/.test(declaration.getSourceFile().fileName))
      return undefined;
    return symbol.name;
  }

  #inline(type) {
    const { flags } = type;
    if (flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) return {};
    if (flags & ts.TypeFlags.StringLiteral) return { const: type.value };
    if (flags & ts.TypeFlags.NumberLiteral) return { const: type.value };
    if (flags & ts.TypeFlags.BooleanLiteral) return { const: type.intrinsicName === 'true' };
    if (flags & ts.TypeFlags.String) return { type: 'string' };
    if (flags & ts.TypeFlags.Number) return { type: 'number' };
    if (flags & ts.TypeFlags.Boolean) return { type: 'boolean' };
    if (flags & ts.TypeFlags.Null) return { type: 'null' };
    if (type.isUnion()) return this.#union(type);
    if (type.isIntersection()) return this.#intersection(type);
    if (this.#checker.isArrayType(type))
      return { type: 'array', items: this.of(this.#checker.getTypeArguments(type)[0]) };
    if (flags & ts.TypeFlags.Object) return this.#object(type);
    throw new Error(`no JSON Schema for ${this.#checker.typeToString(type)}`);
  }

  #union(type) {
    const parts = type.types.filter((t) => !(t.flags & ts.TypeFlags.Undefined));
    const booleans = parts.filter((t) => t.flags & ts.TypeFlags.BooleanLiteral);
    const texts = parts.filter((t) => t.flags & ts.TypeFlags.StringLiteral);
    const others = parts.filter((t) => !texts.includes(t) && !(booleans.length === 2 && booleans.includes(t)));
    const said = [
      ...(texts.length > 0 ? [{ type: 'string', enum: texts.map((t) => t.value).sort() }] : []),
      ...(booleans.length === 2 ? [{ type: 'boolean' }] : []),
      ...others.map((t) => this.of(t)),
    ];
    // The compiler's own order depends on what it has seen before.
    const order = said.map((s) => JSON.stringify(s)).sort();
    return order.length === 1 ? said[0] : { anyOf: order.map((s) => JSON.parse(s)) };
  }

  /** A named type and what is said of it beside: both hold. */
  #intersection(type) {
    if (type.types.every((t) => this.#nameOf(t) === undefined)) return this.#object(type);
    return { allOf: type.types.map((t) => this.of(t)) };
  }

  #object(type) {
    const index = this.#checker.getIndexInfoOfType(type, ts.IndexKind.String);
    const symbols = this.#checker.getPropertiesOfType(type);
    const properties = {};
    for (const symbol of symbols) {
      const schema = this.of(this.#checker.getTypeOfSymbol(symbol));
      properties[symbol.name] = { ...schema, ...describe(symbol, this.#checker) };
    }
    const required = symbols.filter((s) => !(s.flags & ts.SymbolFlags.Optional)).map((s) => s.name);
    return {
      type: 'object',
      ...(symbols.length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(index !== undefined && { additionalProperties: this.of(index.type) }),
    };
  }
}

/** The doc comment, without what only readers of the code can follow. */
function describe(symbol, checker) {
  const text = ts
    .displayPartsToString(symbol?.getDocumentationComment(checker))
    .replace(/\{@link (\w+)\}/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  const unit = symbol?.getJsDocTags(checker).find((tag) => tag.name === 'unit');
  const told = unit === undefined ? '' : ` Unit: ${ts.displayPartsToString(unit.text).trim()}.`;
  return text === '' ? {} : { description: `${text}${told}` };
}

/** A program over some files with the compiler's options of this project. */
export function programOf(files, project = 'tsconfig.json') {
  const { config } = ts.readConfigFile(project, (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
  return ts.createProgram(files, { ...options, noEmit: true, incremental: false, tsBuildInfoFile: undefined });
}

/** The type of an exported interface. */
export function exportedType(program, file, name) {
  const checker = program.getTypeChecker();
  const module = checker.getSymbolAtLocation(program.getSourceFile(file));
  const symbol = module && checker.getExportsOfModule(module).find((s) => s.name === name);
  if (symbol === undefined) throw new Error(`${file} exports no ${name}`);
  return checker.getDeclaredTypeOfSymbol(symbol);
}
