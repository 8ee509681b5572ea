/** Of what strangers can add to without end the newest `most` are kept; the oldest stands first, as it was put in. */
export function forgetOldest<K>(
  known: { readonly size: number; keys(): Iterable<K>; delete(key: K): unknown },
  most: number,
): void {
  for (const oldest of known.keys()) {
    if (known.size <= most) return;
    known.delete(oldest);
  }
}
