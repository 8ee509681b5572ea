import type { Composition } from '../composition.js';

/** As much of `/jsz` as is needed. */
interface JetStreamPage {
  meta_cluster?: { leader?: string; cluster_size?: number };
  account_details?: { name: string; stream_detail?: StreamDetail[] }[];
}

interface StreamDetail {
  name: string;
  config: { num_replicas: number };
  cluster?: { leader?: string; replicas?: { name: string; current: boolean; offline?: boolean }[] };
}

/** A server as it sees itself and the others. */
export interface Server {
  name: string;
  version: string;
  cluster: string;
  /** Names of servers that it is connected to. */
  routes: string[];
  metaLeader: string | undefined;
  streams: Stream[];
}

export interface Stream {
  /** With its account's: two may have one name. */
  name: string;
  replicas: number;
  leader: string | undefined;
  /** Copies on other servers, as its leader sees them; none as any other server does. */
  others: { name: string; isCurrent: boolean }[];
}

/** By the monitor of a composition's NATS, which is reached in its container alone. */
export async function readServer(composition: Composition): Promise<Server> {
  const page = async <T>(path: string): Promise<T> => {
    const url = `http://127.0.0.1:8222/${path}`;
    const { exitCode, stdout, stderr } = await composition.exec('nats', 'wget', '-q', '-O', '-', url);
    if (exitCode !== 0) throw new Error(`${path} of NATS: ${stderr}`);
    return JSON.parse(stdout) as T;
  };
  const [{ server_name: name, version, cluster }, { routes = [] }, jsz] = await Promise.all([
    page<{ server_name: string; version: string; cluster?: { name?: string } }>('varz'),
    page<{ routes?: { remote_name: string }[] }>('routez'),
    page<JetStreamPage>('jsz?accounts=true&streams=true&config=true'),
  ]);
  const streams = (jsz.account_details ?? []).flatMap((account) =>
    (account.stream_detail ?? []).map((detail) => streamOf(account.name, detail)),
  );
  return {
    ...{ name, version, streams },
    cluster: cluster?.name ?? '',
    routes: [...new Set(routes.map((route) => route.remote_name))].sort(),
    metaLeader: jsz.meta_cluster?.leader,
  };
}

const streamOf = (account: string, { name, config, cluster }: StreamDetail): Stream => ({
  name: `${account} ${name}`,
  replicas: config.num_replicas,
  leader: cluster?.leader,
  others: (cluster?.replicas ?? []).map(({ name: at, current, offline = false }) => ({
    name: at,
    isCurrent: current && !offline,
  })),
});
