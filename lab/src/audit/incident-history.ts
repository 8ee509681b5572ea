import { pathToFileURL } from 'node:url';
import { connect } from '@nats-io/transport-node';
import { natsOptions, readCredentials } from '#bus';
import { decodeIncident, fromToken, MusterError, type IncidentRecord, type Reservations } from '#contracts';

/** What the API does not tell, since no client needs it: every revision of every incident, and the reservations. */
export interface StoredHistory {
  incidents: IncidentRecord[];
  reservations: Reservations | undefined;
}

/** Answer of the server's message-get. `data` is absent on a delete marker. */
interface StoredMessage {
  message?: { seq: number; subject: string; data?: string };
  error?: { err_code: number; description: string };
}
const NO_MESSAGE = 10_037;

/** Reads the buckets as user `inventory`. It runs where NATS is reached: in the lab's control namespace. */
async function readHistory(servers: string[], credentialsFile: string): Promise<StoredHistory> {
  const nc = await connect(natsOptions({ name: 'audit', servers, credentials: readCredentials(credentialsFile) }));
  try {
    /** Every revision that a bucket still holds, oldest first, one request each: user inventory may do just that. */
    const all = async (bucket: string): Promise<{ key: string; text: string }[]> => {
      const values: { key: string; text: string }[] = [];
      for (let seq = 1; ;) {
        const reply = await nc.request(
          `$JS.API.STREAM.MSG.GET.KV_${bucket}`,
          JSON.stringify({ seq, next_by_subj: `$KV.${bucket}.>` }),
          { timeout: 5000 },
        );
        const { message, error } = reply.json<StoredMessage>();
        if (error?.err_code === NO_MESSAGE) return values;
        if (message === undefined) throw new MusterError('BUS_UNAVAILABLE', `bucket ${bucket}: ${error?.description}`);
        const data = message.data;
        const key = fromToken(message.subject.slice(`$KV.${bucket}.`.length));
        if (data !== undefined) values.push({ key, text: Buffer.from(data, 'base64').toString() });
        seq = message.seq + 1;
      }
    };
    const reservations = (await all('admission'))
      .map(({ text }) => JSON.parse(text) as Partial<Reservations>)
      .filter((v): v is Reservations => v.held !== undefined);
    const incidents = (await all('incidents')).map(({ key, text }) => decodeIncident(key, text));
    return { incidents, reservations: reservations.at(-1) };
  } finally {
    await nc.close();
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [servers, credentials] = process.argv.slice(2);
  process.stdout.write(JSON.stringify(await readHistory((servers ?? '').split(','), credentials ?? '')));
}
