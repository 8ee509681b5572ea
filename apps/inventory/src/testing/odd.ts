/** The record, of which one field makes every decision about it throw. */
export function odd<T extends object>(record: T, field: keyof T): T {
  return Object.defineProperty({ ...record }, field, {
    enumerable: true,
    get: () => {
      throw new Error(`${String(field)} cannot be understood`);
    },
  });
}
