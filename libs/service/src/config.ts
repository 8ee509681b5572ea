import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plainToInstance, Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsIP,
  IsObject,
  IsOptional,
  IsString,
  Length,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
  validateSync,
  type ValidationError,
  type ValidationOptions,
} from 'class-validator';
import { parse } from 'yaml';
import { NATS_URL } from '#contracts/keys/nats-tls.js';
import { MusterError, NAME_PATTERN, type ClusterSettings, type ServiceName } from '#contracts';
import { readInitialSettings } from './initial-settings.js';
import { exactNetworkFault, networkFault } from './network.js';

/** Playbooks that come with Muster, beside `dist/`. */
const ownPlaybooks = fileURLToPath(new URL('../../../../playbooks', import.meta.url));

const HOST_NAME = /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/;
const HOST_PORT = '(\\[[0-9a-fA-F:]+\\]|[A-Za-z0-9._-]+):\\d{1,5}';
const ADDRESS = `(unix:/[^\\s,]+|${HOST_PORT})`;
const LISTEN = new RegExp(`^${ADDRESS}(,${ADDRESS})*$`);
const METRICS_LISTEN = new RegExp(`^${HOST_PORT}$`);

const IsNetwork = (o: ValidationOptions): PropertyDecorator =>
  ValidateBy({ name: 'isNetwork', validator: { validate: (v) => networkFault(v) === undefined } }, o);

const IsExactNetwork = (): PropertyDecorator =>
  ValidateBy(
    { name: 'isExactNetwork', validator: { validate: (v) => exactNetworkFault(v) === undefined } },
    {
      each: true,
      message: ({ value }) =>
        [value]
          .flat()
          .map(exactNetworkFault)
          .find((why) => why !== undefined) ?? '',
    },
  );

export class NatsConfig {
  /** Any of them will do; the client learns the others of a cluster by itself. @default nats://127.0.0.1:4222 */
  @IsArray()
  @ArrayNotEmpty()
  @Matches(NATS_URL, { each: true, message: 'each must look like nats://host:port' })
  servers: string[] = ['nats://127.0.0.1:4222'];

  /** Where the server that runs with this configuration listens, `host:port`; services do not use it. */
  @IsOptional()
  @IsString()
  listen?: string;

  /**
   * Folder of NATS's store, where that is on this machine: its disk is watched, and named when it is full. Environment
   * `MUSTER_NATS_STORE`. @default its disk is not watched
   */
  @IsOptional()
  @IsString()
  store?: string;

  /**
   * Whoever runs NATS restarts it when its disk has room again, as `npm start` does: it is what people are told then.
   * Environment `MUSTER_NATS_RESTARTED` (`true`). @default false
   */
  @IsBoolean()
  restarted = false;

  /**
   * NATS may be spoken to without TLS also over a network, where whoever listens in reads and changes everything. On this
   * machine's own loopback it always may. While it is so, alarm `nats-plain` stands. @default false
   */
  @IsBoolean()
  plain = false;

  /**
   * Certificate of the NATS server that runs with this configuration: its end is watched. @default `tls/server.pem`
   * beside the configuration file, where that is there
   */
  @IsOptional()
  @IsString()
  certificate?: string;
}

/** The API's own certificate. */
export class HttpTlsConfig {
  /**
   * File with the certificate (PEM), those that it was signed by behind it. It and `key` are read again when they change.
   * Alarm `certificate-expires` watches its end.
   */
  @IsString()
  @Length(1)
  certificate!: string;

  /** File with the certificate's private key (PEM), without a passphrase. */
  @IsString()
  @Length(1)
  key!: string;
}

export class HttpConfig {
  /** `host:port` or `unix:/path`, several separated by commas. @default 127.0.0.1:9007 */
  @Matches(LISTEN, { message: 'must be host:port or unix:/path, several separated by commas' })
  listen = '127.0.0.1:9007';

  /** File of API tokens; without it only loopback addresses and unix sockets are allowed. */
  @IsOptional()
  @IsString()
  tokens?: string;

  /**
   * Proxies, as addresses or CIDRs, whose `X-Forwarded-For` says where a request comes from. Whoever else sends one is
   * not believed. @default none
   */
  @IsOptional()
  @IsArray()
  @IsNetwork({ each: true, message: 'each must be an address or a CIDR, such as 10.9.0.1 or 10.9.0.0/24' })
  trustProxy?: string[];

  /** With it, every `host:port` of `http.listen` speaks TLS and nothing else; unix sockets stay without. @default no TLS */
  @IsOptional()
  @ValidateNested()
  @Type(() => HttpTlsConfig)
  tls?: HttpTlsConfig;
}

/** For Prometheus. */
export class MetricsConfig {
  /**
   * `host:port` where detector, inventory, provisioner or fencer answer `GET /metrics`, without a token. Each process needs
   * an address of its own, so it is best set by its environment: `MUSTER_METRICS`. The gateway has `/metrics` on its own
   * address, and does not listen here. @default none
   */
  @IsOptional()
  @Matches(METRICS_LISTEN, { message: 'must be host:port' })
  listen?: string;
}

/** The machine that this process runs on, where it cannot see that itself: a container has a name and addresses of its own. */
export class HostConfig {
  /**
   * Its host name, its node's name or label where it is a node. Environment `MUSTER_HOST`. @default the system's host name
   */
  @IsOptional()
  @Matches(HOST_NAME, { message: 'must be the name of a machine, such as control1 or control1.example.org' })
  name?: string;

  /**
   * Its addresses, on every network. Environment `MUSTER_HOST_ADDRESSES`: list with commas. @default those of the
   * interfaces that the process sees; they count also where others are told
   */
  @IsArray()
  @IsIP(undefined, { each: true, message: 'each must be an IP address' })
  addresses: string[] = [];
}

/** For clients of the contiv cluster manager, which know nothing of tokens. */
export class CompatConfig {
  /**
   * Networks, as addresses or CIDRs, from which the clusterm surface needs no token; what needs an admin still does. Of
   * use with `http.tokens` alone. @default none
   */
  @IsOptional()
  @IsArray()
  @IsExactNetwork()
  allowFrom?: string[];
}

export class KeysConfig {
  /** Keys of the agents' datagrams, hex, one a line: the first signs, all are accepted. */
  @IsOptional()
  @IsString()
  datagram?: string;

  /**
   * Key that seals what is secret in the store, 64 hex digits. Without it inventory stores that in clear, and takes no
   * power passwords.
   */
  @IsOptional()
  @IsString()
  secrets?: string;

  /**
   * Key that signs the NATS users of agents; inventory gives one to each agent that it enrols.
   * @default `keys/agents.key` beside the configuration file
   */
  @IsOptional()
  @IsString()
  agents?: string;

  /**
   * Key with which inventory makes the NATS users of agents worthless that were revoked; needed by nobody else. Where the
   * file is not there, a revoked agent is refused by Muster, and NATS still lets it connect.
   * @default `keys/revoker.key` beside the configuration file
   */
  @IsOptional()
  @IsString()
  revoker?: string;
}

export class AnsibleConfig {
  /** Folder of the playbooks. @default those that come with Muster */
  @IsString()
  playbooks = ownPlaybooks;

  /**
   * Folder of the operator's own services, one folder each (docs/services.md). It must exist where it is named.
   * @default `services` beside the configuration file, where that is there
   */
  @IsOptional()
  @IsString()
  services?: string;

  /** Where services are looked for while `services` says nothing. Not a setting. */
  declare defaultServices?: string;

  /** ssh user on the nodes. @default root */
  @IsString()
  @Length(1, 64)
  user = 'root';

  /** File of the ssh key with which the nodes are logged in to. @default ssh's own */
  @IsOptional()
  @IsString()
  privateKey?: string;

  /** Python on the nodes. @default ansible's own discovery */
  @IsOptional()
  @IsString()
  python?: string;

  /** Lowest in precedence: configuration < globals < request. */
  @IsObject()
  extraVars: Record<string, unknown> = {};

  /**
   * known_hosts file that vouches, by their names, for nodes without a key on record; only read. Without it the first key
   * that a node shows is taken, and pinned in its record.
   */
  @IsOptional()
  @IsString()
  knownHosts?: string;

  /** What sets a node up for its host group: its name in the folder. */
  @Matches(/^[^/]+\.ya?ml$/)
  sitePlaybook = 'site.yml';

  /** What takes away all that was set up. */
  @Matches(/^[^/]+\.ya?ml$/)
  cleanupPlaybook = 'cleanup.yml';

  /** What says whether a node is as it was set up, and changes nothing. */
  @Matches(/^[^/]+\.ya?ml$/)
  checkPlaybook = 'check.yml';

  /** What starts and stops workloads. */
  @Matches(/^[^/]+\.ya?ml$/)
  recoverPlaybook = 'recover.yml';

  /** Jobs at once over all provisioners; recoveries are not counted, they never wait. @default 4 @unit jobs */
  @IsInt()
  @Min(1)
  @Max(64)
  parallel = 4;
}

/** What goes to a new host with its agent. */
export class AgentsConfig {
  /**
   * NATS servers as agents reach them over each network: `{management: [nats://10.0.0.1:4222], backend: [...]}`. An
   * agent holds one connection over each. What is changed here reaches those that are enrolled with their list of peers.
   * @default `nats.servers` over management, where those are not this machine's own loopback
   */
  @IsObject()
  nats: Record<string, string[]> = {};

  /** Node that an agent runs on. @default the one that runs the provisioner */
  @IsOptional()
  @IsString()
  runtime?: string;
}

/** One YAML file (`MUSTER_CONFIG`), environment `MUSTER_*` on top. Paths in the file are relative to it. */
export class ServiceConfig {
  /** Name of the cluster: agents of another one are not heard. @default muster */
  @Matches(NAME_PATTERN)
  cluster = 'muster';

  /** Required of processes in the containers of Muster's images. */
  @ValidateNested()
  @Type(() => HostConfig)
  host: HostConfig = new HostConfig();

  /** Unique among the processes of a service; environment `MUSTER_INSTANCE`. @default `<service>-<host name>` */
  @Matches(NAME_PATTERN)
  instance!: string;

  /** Environment `MUSTER_NATS`: list with commas. */
  @ValidateNested()
  @Type(() => NatsConfig)
  nats: NatsConfig = new NatsConfig();

  /**
   * File with the service's NATS user; environment `MUSTER_CREDENTIALS`; `none` for a server without users.
   * @default `creds/<service>.json` beside the configuration file; none where there is no such file name to derive
   */
  @IsOptional()
  @IsString()
  credentials?: string;

  /** Environment `MUSTER_LISTEN`. */
  @ValidateNested()
  @Type(() => HttpConfig)
  http: HttpConfig = new HttpConfig();

  @ValidateNested()
  @Type(() => MetricsConfig)
  metrics: MetricsConfig = new MetricsConfig();

  @ValidateNested()
  @Type(() => CompatConfig)
  compat: CompatConfig = new CompatConfig();

  @ValidateNested()
  @Type(() => KeysConfig)
  keys: KeysConfig = new KeysConfig();

  @ValidateNested()
  @Type(() => AnsibleConfig)
  ansible: AnsibleConfig = new AnsibleConfig();

  @ValidateNested()
  @Type(() => AgentsConfig)
  agents: AgentsConfig = new AgentsConfig();

  /** Cluster settings of a new installation: written by inventory while there are none; later changes go by the API. */
  @IsOptional()
  @IsObject()
  initial?: Partial<ClusterSettings>;

  /** Work files of the service. Environment `MUSTER_DATA_DIR`. @default `data` beside the configuration file, or /var/lib/muster */
  @IsString()
  dataDir!: string;

  /**
   * What is logged: at `info` each verdict, decision, command and result of a fencing, and what is to be looked at; `debug`
   * is for looking for a fault. Environment `MUSTER_LOG_LEVEL`. @default info
   */
  @IsIn(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
  logLevel = 'info';

  /** Folder of the configuration file, where there is one; relative paths that the API takes are relative to it. Not a setting. */
  declare folder?: string;

  /** Copies of every stream and bucket: 1 on one NATS server, 3 on a cluster, where one of them may be lost. @default 1 @unit copies */
  @IsIn([1, 3, 5])
  replicas = 1;
}

/** CONFIG_INVALID: one sentence that names the file or variable, the value's place and what is expected. */
export function loadConfig(service: ServiceName, env: NodeJS.ProcessEnv = process.env): ServiceConfig {
  const file = env['MUSTER_CONFIG'];
  const read = file === undefined ? {} : readYaml(file);
  const base = file === undefined ? undefined : dirname(resolve(file));
  if (file !== undefined && env['MUSTER_CREDENTIALS'] === undefined && read['credentials'] === undefined)
    read['credentials'] = `creds/${service}.json`;
  if (base !== undefined)
    read['keys'] = {
      agents: 'keys/agents.key',
      revoker: 'keys/revoker.key',
      ...(read['keys'] as object | undefined),
    };
  read['dataDir'] ??= base === undefined ? '/var/lib/muster' : 'data';
  const values = withEnvironment(read, env);
  const host = (values['host'] as Record<string, unknown> | null | undefined)?.['name'];
  values['instance'] ??= defaultInstance(service, typeof host === 'string' ? host : undefined);
  const config = buildConfig(values, base, file ?? 'the environment');
  if (env['MUSTER_CONTAINER'] === 'true') refuseUnknownHost(config.host);
  return config;
}

const defaultInstance = (service: ServiceName, host = hostname()): string => `${service}-${host.split('.')[0]}`;

/** A fencer that does not know which machine it runs on would power off its own. */
function refuseUnknownHost({ name, addresses }: HostConfig): void {
  if (name !== undefined && addresses.length > 0) return;
  throw new MusterError(
    'CONFIG_INVALID',
    'MUSTER_HOST and MUSTER_HOST_ADDRESSES must name the machine that this container runs on, and its addresses on every network: a fencer that is not told could power off its own host',
  );
}

/** From plain values, as in the YAML file; `base` is the folder of relative paths. */
export function buildConfig(values: Record<string, unknown>, base: string | undefined, source: string): ServiceConfig {
  const config = plainToInstance(ServiceConfig, values, { exposeDefaultValues: true });
  const wrong = validateSync(config, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: true });
  const first = (wrong[0] && firstFault(wrong[0], '')) ?? faultOfServers(config.agents.nats);
  if (first !== undefined) throw new MusterError('CONFIG_INVALID', `${source}: ${first}`);
  try {
    if (config.initial !== undefined) config.initial = readInitialSettings(config.initial);
  } catch (e) {
    throw new MusterError('CONFIG_INVALID', `${source}: initial: ${(e as Error).message}`, {}, { cause: e });
  }
  if (config.credentials === 'none') delete config.credentials;
  if (base !== undefined) {
    config.folder = base;
    config.nats.certificate ??= 'tls/server.pem';
    absolutePaths(config, base);
    config.ansible.defaultServices = resolve(base, 'services');
  }
  return config;
}

function faultOfServers(nats: Record<string, unknown>): string | undefined {
  for (const [network, urls] of Object.entries(nats)) {
    if (!NAME_PATTERN.test(network)) return `agents.nats: "${network}" cannot be the name of a network`;
    const good = Array.isArray(urls) && urls.length > 0 && urls.every((u) => typeof u === 'string' && NATS_URL.test(u));
    if (!good) return `agents.nats.${network}: a list of servers is expected, each like nats://host:port`;
  }
  return undefined;
}

function readYaml(file: string): Record<string, unknown> {
  let read: unknown;
  try {
    read = parse(readFileSync(file, 'utf8')) as unknown;
  } catch (e) {
    const why = (e as Error).message.split('\n')[0] ?? '';
    throw new MusterError('CONFIG_INVALID', `${file}: ${why}`, {}, { cause: e });
  }
  if (read === null || read === undefined) return {};
  if (typeof read !== 'object' || Array.isArray(read))
    throw new MusterError('CONFIG_INVALID', `${file}: a mapping of settings is expected`);
  return read as Record<string, unknown>;
}

function withEnvironment(values: Record<string, unknown>, env: NodeJS.ProcessEnv): Record<string, unknown> {
  const out = { ...values };
  const part = (name: string): Record<string, unknown> => (out[name] ?? {}) as Record<string, unknown>;
  const set = (variable: string, apply: (value: string) => void): void => {
    const value = env[variable];
    if (value !== undefined && value !== '') apply(value);
  };
  // Relative paths of the environment are relative to where the process was started, as everywhere.
  const path = (v: string): string => (v === 'none' ? v : resolve(v));
  const list = (v: string): string[] => v.split(',').flatMap((one) => (one.trim() === '' ? [] : [one.trim()]));
  set('MUSTER_HOST', (v) => (out['host'] = { ...part('host'), name: v }));
  set('MUSTER_HOST_ADDRESSES', (v) => (out['host'] = { ...part('host'), addresses: list(v) }));
  set('MUSTER_INSTANCE', (v) => (out['instance'] = v));
  set('MUSTER_NATS', (v) => (out['nats'] = { ...part('nats'), servers: list(v) }));
  set('MUSTER_NATS_STORE', (v) => (out['nats'] = { ...part('nats'), store: path(v) }));
  set('MUSTER_NATS_RESTARTED', (v) => (out['nats'] = { ...part('nats'), restarted: v === 'true' }));
  set('MUSTER_CREDENTIALS', (v) => (out['credentials'] = path(v)));
  set('MUSTER_LISTEN', (v) => (out['http'] = { ...part('http'), listen: v }));
  set('MUSTER_METRICS', (v) => (out['metrics'] = { ...part('metrics'), listen: v }));
  set('MUSTER_DATA_DIR', (v) => (out['dataDir'] = path(v)));
  set('MUSTER_LOG_LEVEL', (v) => (out['logLevel'] = v));
  return out;
}

function firstFault(e: ValidationError, prefix: string): string {
  const at = `${prefix}${e.property}`;
  const child = e.children?.[0];
  if (child) return firstFault(child, `${at}.`);
  const [kind, why] = Object.entries(e.constraints ?? {})[0] ?? [];
  if (kind === 'whitelistValidation') return `${at} is not a setting`;
  return `${at}: ${(why ?? 'is wrong').replace(new RegExp(`^(each value in )?${e.property} `), '$1')}`;
}

function absolutePaths(config: ServiceConfig, base: string): void {
  const fix = <K extends string>(o: Partial<Record<K, string | undefined>>, key: K): void => {
    const value = o[key];
    if (value !== undefined) o[key] = resolve(base, value);
  };
  fix(config, 'credentials');
  fix(config, 'dataDir');
  fix(config.nats, 'store');
  fix(config.nats, 'certificate');
  fix(config.http, 'tokens');
  fix(config.http.tls ?? {}, 'certificate');
  fix(config.http.tls ?? {}, 'key');
  fix(config.keys, 'datagram');
  fix(config.keys, 'secrets');
  fix(config.keys, 'agents');
  fix(config.keys, 'revoker');
  fix(config.agents, 'runtime');
  fix(config.ansible, 'playbooks');
  fix(config.ansible, 'services');
  fix(config.ansible, 'privateKey');
  fix(config.ansible, 'knownHosts');
}
