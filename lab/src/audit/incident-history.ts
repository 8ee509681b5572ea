import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import { connect, nkeyAuthenticator } from '@nats-io/transport-node';
import type { IncidentRecord, Reservations } from '#contracts';

/** What the API does not tell, since no client needs it: every revision of every incident, and the reservations. */
export interface StoredHistory {
  incidents: IncidentRecord[];
  reservations: Reservations | undefined;
}

/** Reads the buckets as user `inventory`. It runs where NATS is reached: in the lab's control namespace. */
export async function readHistory(server: string, credentialsFile: string): Promise<StoredHistory> {
  const { user, seed } = JSON.parse(readFileSync(credentialsFile, 'utf8')) as { user: string; seed: string };
  const nc = await connect({
    servers: server,
    inboxPrefix: `_INBOX_${user}`,
    authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)),
    timeout: 5000,
  });
  try {
    const js = jetstream(nc);
    const all = async <T>(stream: string): Promise<T[]> => {
      const consumer = await js.consumers.get(stream, { deliver_policy: DeliverPolicy.All });
      const values: T[] = [];
      const { num_pending: count } = await consumer.info();
      if (count === 0) return values;
      const messages = await consumer.consume();
      for await (const m of messages) {
        if (m.data.length > 0) values.push(m.json<T>());
        if (m.info.pending === 0) break;
      }
      return values;
    };
    const reservations = (await all<Partial<Reservations>>('KV_admission')).filter(
      (v): v is Reservations => v.held !== undefined,
    );
    return { incidents: await all<IncidentRecord>('KV_incidents'), reservations: reservations.at(-1) };
  } finally {
    await nc.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [server, credentials] = process.argv.slice(2);
  process.stdout.write(JSON.stringify(await readHistory(server ?? '', credentials ?? '')));
}
