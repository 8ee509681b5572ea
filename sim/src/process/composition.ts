import 'reflect-metadata';

type Made<T> = new (...parts: never[]) => T;

interface Hooks {
  onModuleInit?(): unknown;
  onApplicationBootstrap?(): unknown;
  onApplicationShutdown?(): unknown;
}

/** Objects of one life of a program, made as Nest makes them: by the types in their constructors, each once. */
export class Composition {
  /** Class → its object, in the order in which they were made. */
  private readonly objects = new Map<unknown, object>();

  /** @param given what is not made by its constructor alone */
  constructor(given: readonly object[]) {
    for (const object of given) this.objects.set(object.constructor, object);
  }

  /** @throws Error where a part of it is no class that is known when its module is loaded */
  get<T extends object>(type: Made<T>): T {
    const known = this.objects.get(type);
    if (known !== undefined) return known as T;
    const parts = (Reflect.getMetadata('design:paramtypes', type) ?? []) as (Made<object> | undefined)[];
    if (parts.length < type.length) throw new Error(`${type.name} does not tell what it is made of`);
    const made = new type(...(parts.map((part) => this.part(type, part)) as never[]));
    this.objects.set(type, made);
    return made;
  }

  /** All that were made look around, before anybody asks them; in the order in which they were made. */
  async init(): Promise<void> {
    for (const object of this.hooks()) await object.onModuleInit?.();
  }

  /** They begin. */
  async bootstrap(): Promise<void> {
    for (const object of this.hooks()) await object.onApplicationBootstrap?.();
  }

  /** They end in good order: whoever was made first ends first. */
  async shutdown(): Promise<void> {
    for (const object of this.hooks()) await object.onApplicationShutdown?.();
  }

  private part(of: Made<object>, type: Made<object> | undefined): object {
    if (type === undefined || type === Object) throw new Error(`${of.name} is made of something that is no class`);
    return this.get(type);
  }

  private hooks(): Hooks[] {
    return [...this.objects.values()];
  }
}
