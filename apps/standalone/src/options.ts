import { parseArgs } from 'node:util';
import { MusterError } from '#contracts/errors/errors.js';

/** What `npm start -- …` takes. */
export interface StandaloneOptions {
  /** Keys, configuration and the NATS store. */
  data: string;
  /** Absent: as configured in the data folder, else 127.0.0.1:9007. */
  listen?: string;
  /** Absent: as configured in the data folder, else 127.0.0.1:4222. */
  natsListen?: string;
  cluster: string;
  logLevel: string;
}

export const usage = `Muster on one machine: all services in one process, with its own NATS server.

  npm start -- [options]

  --data DIR               keys, configuration and store; made at the first start   (default ./.muster)
  --listen ADDRESS         HTTP: 127.0.0.1:9007, unix:/path, several with commas     (default 127.0.0.1:9007)
  --nats-listen HOST:PORT  NATS, where agents connect to                             (default 127.0.0.1:4222)
  --cluster NAME           name of a new cluster                                     (default muster)
  --log-level LEVEL        trace, debug, info, warn, error                           (default info)
  --help

Other addresses than loopback need tokens: http.tokens in DIR/muster.yaml.
`;

/** @throws MusterError BAD_REQUEST; @returns undefined for `--help`. */
export function parseOptions(args: string[]): StandaloneOptions | undefined {
  const text = { type: 'string' } as const;
  let values: Partial<Record<'data' | 'listen' | 'nats-listen' | 'cluster' | 'log-level', string>> & { help?: boolean };
  try {
    ({ values } = parseArgs({
      args,
      options: {
        data: text,
        listen: text,
        'nats-listen': text,
        cluster: text,
        'log-level': text,
        help: { type: 'boolean', short: 'h' },
      },
    }));
  } catch (cause) {
    const sentence = (cause as Error).message.split('. ')[0] ?? '';
    throw new MusterError('BAD_REQUEST', `${sentence} (see --help)`, {}, { cause });
  }
  if (values.help === true) return undefined;
  const { listen } = values;
  const natsListen = values['nats-listen'];
  return {
    data: values.data ?? '.muster',
    cluster: values.cluster ?? 'muster',
    logLevel: values['log-level'] ?? 'info',
    ...(listen !== undefined && { listen }),
    ...(natsListen !== undefined && { natsListen }),
  };
}
