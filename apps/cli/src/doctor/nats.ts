import type { BusFacts, NatsServerFacts, StoreDisk, StreamFacts } from '#contracts';
import { isAtLeast, isRecommendedAlone, isSafeInCluster } from '#bus/servers/server-floor.js';
import { CRITICAL_AT, isFull, sizeText, WARN_AT } from '#bus/store-health/store-health.js';
import { shortAge } from '../output/times.js';
import { bad, ok, unknown, warn, type Asked, type Finding } from './finding.js';

const ASK = 'muster status';
const SEPARATE = 'run muster init DIR --separate-services, then restart nats-server and the services: docs/security.md';
const INIT = 'run muster init DIR again, then restart nats-server: it may then be asked';

/** The bus: what runs there, when it writes to the disk, how many copies there are, and how full they are. */
export function natsFindings(asked: Asked<BusFacts>): Finding[] {
  if ('failed' in asked)
    return ['servers', 'version', 'sync', 'replicas', 'accounts', 'disk'].map((what) =>
      unknown(`nats.${what}`, 'nats', asked.failed, ASK),
    );
  const { servers, streams, replicas, ownAccounts, disks = [] } = asked.value;
  return [
    ...('failed' in servers
      ? ['servers', 'version', 'sync', 'store'].map((what) => unknown(`nats.${what}`, 'nats', servers.failed, INIT))
      : [serverCount(servers.items, replicas), ...servers.items.flatMap(serverFindings)]),
    ...('failed' in streams
      ? [unknown('nats.replicas', 'nats', streams.failed, ASK)]
      : replicaFindings(streams.items, replicas)),
    accountFinding(ownAccounts),
    ...diskFindings(disks, 'failed' in servers ? [] : servers.items.map(({ name }) => name)),
  ];
}

/** Several addresses may be those of one server: only where each holds a copy is their number known. */
function serverCount(found: readonly NatsServerFacts[], replicas: number): Finding {
  const names = found.map((s) => s.name).join(', ');
  if (found.length >= replicas) return ok('nats.servers', 'nats', `${found.length} of ${replicas} answer: ${names}`);
  return bad(
    'nats.servers',
    'nats',
    `${found.length} of ${replicas} answer: ${names || 'none'}`,
    'start the server that is missing; two of three lost end all writes',
  );
}

function accountFinding(own: boolean | undefined): Finding {
  const check = 'nats.accounts';
  if (own === undefined)
    return unknown(check, 'nats', 'inventory has no keys.revoker, which tells of the accounts', SEPARATE);
  return own
    ? ok(check, 'nats', 'services have accounts of their own')
    : warn(check, 'nats', 'services share the account of the records: a stolen one reaches all of them', SEPARATE);
}

function serverFindings(s: NatsServerFacts): Finding[] {
  return [versionFinding(s), syncFinding(s), storeFinding(s)];
}

function versionFinding({ name, version, cluster }: NatsServerFacts): Finding {
  const check = 'nats.version';
  if (cluster !== undefined)
    return isSafeInCluster(version)
      ? ok(check, name, `${version}, of cluster ${cluster}`)
      : bad(
          check,
          name,
          `${version} may acknowledge two holders of one lease in a cluster`,
          'upgrade it to 2.14.3 or newer (2.12.12 on the 2.12 line), one server at a time',
        );
  if (!isAtLeast(version, '2.9.10'))
    return bad(check, name, `${version} is older than Muster runs on`, 'upgrade it to 2.10.23 or newer');
  return isRecommendedAlone(version)
    ? ok(check, name, version)
    : warn(check, name, `${version} works, and cannot write at once to its disk`, 'upgrade it to 2.10.23 or newer');
}

function syncFinding({ name, version, sync, cluster }: NatsServerFacts): Finding {
  const check = 'nats.sync';
  if (sync === 'always') return ok(check, name, 'what is acknowledged is on the disk');
  const broken = cluster === undefined ? warn : bad;
  if (sync === undefined && !isAtLeast(version, '2.10'))
    return broken(
      check,
      name,
      'it writes to the disk every 2 min: a power cut loses what was acknowledged since',
      'upgrade it to 2.10.23 or newer, then set jetstream { sync_interval: always }',
    );
  if (sync === undefined)
    return unknown(check, name, 'it does not tell when it writes to the disk', 'see sync_interval in its nats.conf');
  return broken(
    check,
    name,
    `it writes to the disk every ${Math.round(sync / 1000)} s: a power cut loses what was acknowledged since`,
    'set sync_interval: always in jetstream { } of its nats.conf, and restart it',
  );
}

function storeFinding({ name, storeBytes, storeLimitBytes }: NatsServerFacts): Finding {
  const check = 'nats.store';
  if (storeBytes === undefined || storeLimitBytes === undefined)
    return unknown(check, name, 'it does not tell how full its store is', ASK);
  const text = `${sizeText(storeBytes)} of ${sizeText(storeLimitBytes)} that its streams may take`;
  const used = storeBytes / storeLimitBytes;
  if (used < WARN_AT) return ok(check, name, text);
  const remedy = 'raise max_file_store in its nats.conf, where its disk has room';
  return used < CRITICAL_AT ? warn(check, name, text, remedy) : bad(check, name, text, remedy);
}

function replicaFindings(streams: readonly StreamFacts[], replicas: number): Finding[] {
  const check = 'nats.replicas';
  const wrong = streams.flatMap((s): Finding[] => {
    if (s.leaderless === true)
      return [bad(check, s.name, 'nobody leads it: it takes no write', 'start the servers that hold its copies')];
    if (s.behind !== undefined)
      return [
        bad(
          check,
          s.name,
          `its copy on ${s.behind.join(', ')} is not current`,
          'start that server, or wait until it has caught up',
        ),
      ];
    if (s.replicas === replicas) return [];
    const copies = `${s.replicas} ${s.replicas === 1 ? 'copy' : 'copies'}, and muster.yaml says replicas: ${replicas}`;
    return [bad(check, s.name, copies, `nats stream edit ${s.name} --replicas ${replicas}`)];
  });
  if (wrong.length > 0) return wrong;
  const copies = replicas === 1 ? 'one copy' : `${replicas} copies, all current`;
  return [ok(check, 'nats', `${streams.length} streams and buckets, each with ${copies}`)];
}

/** An inventory tells of its disk every 5 min: one that has not for so long has ended, or cannot write. */
const OLD_DISK_MS = 15 * 60_000;

/** @param servers by name, which is that of their control host where muster init has written their files */
function diskFindings(disks: readonly StoreDisk[], servers: readonly string[]): Finding[] {
  // What stands of a host that went is no server's any more.
  const told = disks.filter((disk) => !isOld(disk) || disk.host === undefined || servers.includes(disk.host));
  const lacking = Math.max(servers.length - told.length, told.length === 0 ? 1 : 0);
  const unseen = servers.length === 0 ? ['nats'] : servers.filter((name) => !told.some(({ host }) => host === name));
  return [...told.map(diskFinding), ...unseen.slice(0, lacking).map(unseenDisk)];
}

const isOld = ({ ageMs = 0 }: StoreDisk): boolean => ageMs > OLD_DISK_MS;

const unseenDisk = (server: string): Finding =>
  unknown(
    'nats.disk',
    server,
    'its disk is not seen from an inventory beside it',
    'set nats.store in muster.yaml there, or watch df there',
  );

function diskFinding(disk: StoreDisk): Finding {
  const [check, subject] = ['nats.disk', disk.host ?? 'nats'];
  const text = `${sizeText(disk.freeBytes)} free of ${sizeText(disk.totalBytes)} at ${disk.path}`;
  if (isOld(disk))
    return unknown(
      check,
      subject,
      `its inventory has not told of its disk for ${shortAge(disk.ageMs ?? 0)}; then ${text}`,
      `see whether inventory runs on ${subject}`,
    );
  const remedy = `make room at ${disk.path}${disk.host === undefined ? '' : ` on ${disk.host}`}: when it is full nobody is fenced`;
  const used = disk.totalBytes === 0 ? 0 : 1 - disk.freeBytes / disk.totalBytes;
  if (isFull(disk) || used >= CRITICAL_AT) return bad(check, subject, text, remedy);
  return used >= WARN_AT ? warn(check, subject, text, remedy) : ok(check, subject, text);
}
