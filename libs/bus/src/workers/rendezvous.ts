/** FNV-1a over UTF-8 bytes, 32 bit (http://www.isthe.com/chongo/tech/comp/fnv/). */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text, 'utf8')) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** MurmurHash3's finalizer: FNV alone leaves names that differ in their last letter close together. */
function fmix32(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * The worker that a node is best given to: rendezvous hashing, so that a worker's death moves only its own nodes.
 * A hint that spreads jobs and polls; the right to act is always a lease. Undefined without workers.
 */
export function assignByRendezvous(workers: readonly string[], node: string): string | undefined {
  let best: string | undefined;
  let bestScore = -1;
  for (const worker of workers) {
    const score = fmix32(fnv1a(`${worker}\0${node}`));
    if (score > bestScore || (score === bestScore && best !== undefined && worker < best)) {
      best = worker;
      bestScore = score;
    }
  }
  return best;
}
