import { ReadyStream } from '#contracts';
import type { Link } from '../ports/link.js';

/** Links that have seen the storage whole: it stays so, a server that restarts reads it before it listens. */
const whole = new WeakSet<Link>();

/** Before anything is read: ApiFailure "stream not found" until everything was created; see ReadyStream. */
export async function storageIsWhole(link: Link): Promise<void> {
  if (whole.has(link)) return;
  await link.messages.info(ReadyStream.name);
  whole.add(link);
}
