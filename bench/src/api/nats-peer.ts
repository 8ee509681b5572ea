import { performance } from 'node:perf_hooks';
import { connectionOf } from '#bus/testing/connection-of.js';
import { Subjects } from '#contracts';
import type { ControlPlane } from '../control-plane.js';

/**
 * What NATS alone does on this machine at this moment: request and reply between two connections, nothing of ours in
 * between, as many in flight as the bench has connections. The limit of whatever goes through it.
 */
export async function natsRoundTrips(plane: ControlPlane, inFlight: number, seconds: number): Promise<number> {
  const asker = connectionOf(await plane.bus('inventory'));
  const responder = connectionOf(await plane.bus('inventory'));
  const payload = JSON.stringify({ name: 'x'.repeat(600) });
  const subject = Subjects.rpc('inventory', 'bench.echo');
  const sub = responder.subscribe(subject, { callback: (_e, msg) => void msg.respond(payload) });
  await responder.flush();
  let done = 0;
  const end = performance.now() + seconds * 1000;
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      await asker.request(subject, payload, { timeout: 5_000 });
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  sub.unsubscribe();
  return done / seconds;
}
