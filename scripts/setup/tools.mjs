import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';

/**
 * What is looked for, the Debian and Ubuntu package that brings it, and for which purposes. `optional`: installed
 * along with the others, never asked of somebody who cannot install. `atLeast`: what `--version` must tell.
 */
const tools = [
  { name: 'nats-server', package: 'nats-server', for: ['start', 'lab', 'test', 'bench'], atLeast: '2.9.10' },
  { name: 'ipmitool', package: 'ipmitool', for: ['start', 'lab', 'test', 'bench'] },
  { name: 'ansible-playbook', package: 'ansible-core', for: ['start', 'lab', 'test', 'bench'] },
  { name: 'ssh', package: 'openssh-client', for: ['start', 'lab', 'test', 'bench', 'compose'] },
  { name: '/usr/bin/python3', package: 'python3', for: ['start', 'lab', 'test', 'bench'] },
  { name: 'ping', package: 'iputils-ping', for: ['start', 'lab', 'test', 'bench'], optional: true },
  { name: 'sshd', package: 'openssh-server', for: ['lab', 'test', 'bench', 'compose'] },
  { name: 'ipmi_sim', package: 'openipmi', for: ['lab', 'test', 'bench', 'compose'] },
  { name: 'ip', package: 'iproute2', for: ['lab', 'test', 'bench', 'compose'] },
  { name: 'nft', package: 'nftables', for: ['lab', 'test', 'bench'], optional: true },
  { name: 'faketime', package: 'faketime', for: ['lab', 'test'], optional: true },
  { name: 'serf', package: 'serf', for: ['test', 'bench'] },
  { name: 'corosync', package: 'corosync', for: ['failover'] },
  { name: 'pacemakerd', package: 'pacemaker', for: ['failover'] },
  { name: 'crm_mon', package: 'pacemaker-cli-utils', for: ['failover'] },
  { name: 'fence_ipmilan', package: 'fence-agents', for: ['failover'] },
  { name: 'curl', package: 'curl', for: ['test', 'compose'] },
  { name: 'dockerd', package: 'docker.io', for: ['compose'], optional: true },
  { name: 'docker', package: 'docker.io', for: ['compose'], optional: true },
  { name: 'docker-compose', package: 'docker-compose', for: ['compose'], optional: true },
  { name: 'debootstrap', package: 'debootstrap', for: ['compose'], optional: true },
  { name: 'etcd', package: 'etcd-server', for: ['long'], optional: true },
  { name: 'mkfs.xfs', package: 'xfsprogs', for: ['long'], optional: true },
  { name: 'etcdctl', package: 'etcd-client', for: ['long'], optional: true },
  { name: 'nginx', package: 'nginx-light', for: ['long'], optional: true },
  { name: 'systemd-nspawn', package: 'systemd-container', for: ['long'], optional: true },
];

/** Debian keeps daemons in sbin, which an ordinary user's PATH leaves out. */
const places = [...(process.env.PATH ?? '').split(':'), '/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin'];

const executable = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
const find = (name) =>
  name.startsWith('/')
    ? [name].find(executable)
    : places
        .filter((p) => p !== '')
        .map((p) => join(p, name))
        .find(executable);
const present = (name) => find(name) !== undefined;
const missingFor = (purpose) => tools.filter((t) => t.for.includes(purpose) && !present(t.name));

/** One that is too old is the user's own choice of PATH or system: it is named, and nothing is replaced. */
function refuseOld(purpose) {
  for (const { name, atLeast } of tools.filter((t) => t.for.includes(purpose) && t.atLeast !== undefined)) {
    const path = find(name);
    const version = /\d+\.\d+\.\d+/.exec(spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0];
    if (version === undefined) throw new Error(`${path} --version tells no version; Muster needs ${atLeast} or newer`);
    if (older(version, atLeast)) throw new Error(`${path} is ${version}; Muster needs ${name} ${atLeast} or newer`);
  }
}

function older(version, than) {
  const [a, b] = [version, than].map((v) => v.split('.').map(Number));
  const i = a.findIndex((n, at) => n !== b[at]);
  return i >= 0 && a[i] < b[i];
}

export async function installTools(purpose, say) {
  await installMissing(purpose, say);
  refuseOld(purpose);
}

/** Installs what is missing where we may (root, or sudo without a password); otherwise names the one command. */
async function installMissing(purpose, say) {
  const missing = missingFor(purpose);
  const needed = missing.filter((t) => !t.optional);
  const asRoot = process.getuid?.() === 0 ? [] : mayInstall() ? ['sudo', '-n'] : undefined;
  if (needed.length === 0 && (missing.length === 0 || asRoot === undefined)) return;
  const names = needed.map((t) => t.name).join(', ');
  const list = [...new Set(missing.map((t) => t.package))];
  if (!present('apt-get')) throw new Error(`missing: ${names}; install them with your system's package manager`);
  if (asRoot === undefined)
    throw new Error(`missing: ${names}; run: sudo apt-get update && sudo apt-get install -y ${list.join(' ')}`);
  say(`installing with apt-get: ${list.join(' ')}`);
  const [command, ...first] = [...asRoot, '/bin/sh', '-c', installation, 'sh', ...list];
  const code = await run(command, first);
  const left = missingFor(purpose).filter((t) => !t.optional);
  if (left.length > 0)
    throw new Error(
      `apt-get (exit ${code}) did not bring: ${left.map((t) => t.name).join(', ')}; its own words stand above`,
    );
}

const mayInstall = () => spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0;

/**
 * Runs as root. Debian starts a package's daemon when it is installed: a policy-rc.d forbids that for the time of the
 * installation (somebody else's is left as it is, one of ours that a kill -9 left behind is taken over), and units that
 * this installation brought are not left to start at the next boot: Muster starts its own servers itself.
 * Package lists that are absent or old show as a failed installation: then they are fetched, once.
 */
const installation = String.raw`
guard=/usr/sbin/policy-rc.d
if [ ! -e $guard ] || grep -q 'by the set-up of muster' $guard; then
  trap 'rm -f $guard' EXIT
  trap 'exit 130' HUP INT TERM
  printf '#!/bin/sh\n# by the set-up of muster, only while it installs\nexit 101\n' > $guard
  chmod 755 $guard
fi
export DEBIAN_FRONTEND=noninteractive
install() { apt-get -q -y -o DPkg::Lock::Timeout=120 install --no-install-recommends "$@"; }
install "$@" || { apt-get -q update && install "$@"; }
code=$?
if [ -d /run/systemd/system ]; then
  for package in "$@"; do
    case $package in
      nats-server) units='nats-server.service' ;;
      openipmi) units='openipmi.service' ;;
      serf) units='serf.service' ;;
      corosync) units='corosync.service' ;;
      pacemaker) units='pacemaker.service' ;;
      etcd-server) units='etcd.service' ;;
      docker.io) units='docker.service docker.socket containerd.service' ;;
      nginx-light) units='nginx.service' ;;
      openssh-server) units='ssh.service ssh.socket' ;;
      *) continue ;;
    esac
    for unit in $units; do
      if systemctl is-enabled -q $unit 2>/dev/null; then systemctl -q disable $unit; fi
    done
  done
fi
exit $code
`;
