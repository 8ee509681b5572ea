import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MusterError } from '#contracts';
import type { RejoinParts } from './agents/rejoin-parts.js';
import { clockEnvironment, clockFolder } from './clock/fake-clock.js';
import { PROJECT, type LabFolder } from './folder.js';
import { systemUuid } from './hardware.js';
import { natsUrls, type HostPlan, type LabPlan } from './plan.js';

/** UDP port of the agents, the cluster's default. */
export const AGENT_PORT = 7946;

const UNITS = 'etc/systemd/system';

/**
 * Muster's own folder and Node stand in shell scripts and units of the hosts, where a blank would end the path and the
 * agent would never start. BAD_REQUEST says which path it is.
 */
export function refuseOddPaths(project = PROJECT, node = process.execPath): void {
  for (const [what, path] of Object.entries({ 'this clone of Muster': project, Node: node }))
    if (!/^[A-Za-z0-9._/+@=-]+$/.test(path))
      throw new MusterError(
        'BAD_REQUEST',
        `${what} is in "${path}": the lab needs a path of plain characters; move it`,
      );
}

export interface ImageOptions {
  /** Its changes are kept in memory. */
  tmpfs: boolean;
  rejoin: RejoinParts;
}

/**
 * What a host's disk holds before its first boot, as if by its installer: supervisor, `systemctl`, sshd with its own key,
 * and, unless it is bare, the agent with its credentials and the start gate. Also host.json, by which lab/host knows the
 * host.
 */
export function writeHostImage(folder: LabFolder, plan: LabPlan, host: HostPlan, o: ImageOptions): void {
  const seed = folder.host(host.name, 'seed');
  // Where the host's own paths begin: at its root, or (loopback) in a folder of the machine.
  const root = plan.mode === 'netns' ? '' : folder.host(host.name, 'root');
  for (const d of ['log', 'root', 'seed']) mkdirSync(folder.host(host.name, d), { recursive: true });
  const layers = o.tmpfs ? folder.at('layers', host.name) : folder.host(host.name, 'layers');
  if (plan.mode === 'netns') for (const d of ['upper', 'work']) mkdirSync(join(layers, d), { recursive: true });

  const put = (path: string, text: string, mode = 0o644): void => {
    const file = join(seed, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, mode);
  };
  const unit = (name: string, text: string): void => {
    put(join(UNITS, name), text);
    const wants = join(seed, UNITS, 'multi-user.target.wants');
    mkdirSync(wants, { recursive: true });
    symlinkSync(`${root}/${UNITS}/${name}`, join(wants, name));
  };

  put('etc/hostname', `${host.name}\n`);
  put('etc/machine-id', `${host.machineId}\n`);
  put(
    'etc/hosts',
    ['127.0.0.1 localhost', ...plan.hosts.map((h) => `${h.networks.management} ${h.name}`), ''].join('\n'),
  );

  const lib = folder.at('lib');
  const clocks = clockFolder(folder);
  put(
    // By this name of process 1 Ansible knows the service manager.
    'usr/local/sbin/systemd',
    `#!/usr/bin/python3 -IS\nimport sys\nsys.path.insert(0, ${JSON.stringify(lib)})\nfrom supervisor import Supervisor\nSupervisor().run()\n`,
    0o755,
  );
  const systemctl = `#!/bin/sh\nexec /usr/bin/perl ${lib}/systemctl.pl "$@"\n`;
  put('usr/local/bin/systemctl', systemctl, 0o755);
  // Some tools look in /usr/bin before anything else, and would find the machine's own there.
  if (root === '') put('usr/bin/systemctl', systemctl, 0o755);

  if (!host.bare) putAgent(folder, plan, host, root, o, put, unit);
  mkdirSync(join(seed, 'etc/ssh'), { recursive: true });
  copyFileSync(folder.at('ssh', `${host.name}.key`), join(seed, 'etc/ssh/lab_host_key'));
  chmodSync(join(seed, 'etc/ssh/lab_host_key'), 0o600);
  copyFileSync(folder.at('ssh', 'id_ed25519.pub'), join(seed, 'etc/ssh/lab_authorized_keys'));
  put('etc/ssh/lab_sshd_config', sshdConfig(host, root, folder.path));
  unit('ssh.service', sshUnit(root));

  const dmi: Record<string, string> = {
    // As on many a board whose maker has filled in nothing.
    product_serial: 'To be filled by O.E.M.',
    product_uuid: systemUuid(host.hardware, host.n),
    board_serial: host.hardware.boardSerial,
    chassis_serial: host.hardware.chassisSerial,
  };
  // Below the host's own root, or (netns) over what the machine shows there.
  const classes = plan.mode === 'netns' ? folder.host(host.name, 'class') : join(seed, 'sys/class');
  mkdirSync(join(classes, 'dmi/id'), { recursive: true });
  for (const [name, value] of Object.entries(dmi)) writeFileSync(join(classes, 'dmi/id', name), `${value}\n`);
  writeFileSync(
    folder.host(host.name, 'host.json'),
    `${JSON.stringify(
      {
        name: host.name,
        node: host.node,
        mode: plan.mode,
        lab: folder.path,
        ledger: folder.at('ledger'),
        addresses: host.networks,
        agentPort: AGENT_PORT,
        sshPort: host.sshPort,
        root: folder.host(host.name, 'root'),
        netns: host.netns,
        switch: plan.namespaces?.sw,
        ports: host.ports,
        layers,
        // The host runs this very build: seen through the overlay, a rebuilt file might stay the old one.
        binds: host.bare ? [lib] : [PROJECT, lib, ...(clocks === undefined ? [] : [clocks])],
        bindsIfMounted: host.bare ? [] : [process.execPath],
        // What it runs must have come to it.
        hidden: host.bare ? [PROJECT, process.execPath] : [],
      },
      null,
      2,
    )}\n`,
  );
}

/** The agent of this very build, as if its node had been registered and set up by hand. */
function putAgent(
  folder: LabFolder,
  plan: LabPlan,
  host: HostPlan,
  root: string,
  o: ImageOptions,
  put: (path: string, text: string, mode?: number) => void,
  unit: (name: string, text: string) => void,
): void {
  const agent = (program: string): string => `${process.execPath} ${PROJECT}/dist/apps/agent/src/${program}.js`;
  put('usr/local/bin/muster-gate', `#!/bin/sh\nexec ${agent('gate')} "$@"\n`, 0o755);
  put('usr/local/bin/muster-agent', `#!/bin/sh\nexec ${agent('main')} "$@"\n`, 0o755);
  put('usr/local/bin/muster-workload', `#!/bin/sh\nexec ${agent('workload')} "$@"\n`, 0o755);
  put(
    'etc/muster/agent.json',
    `${JSON.stringify(
      {
        node: host.node,
        cluster: plan.cluster,
        networks: { management: { bind: host.networks.management }, backend: { bind: host.networks.backend } },
        port: AGENT_PORT,
        nats: Object.fromEntries(Object.entries(natsUrls(plan)).filter(([, urls]) => urls.length > 0)),
        credentials: `${root}/etc/muster/nats.json`,
        keys: `${root}/etc/muster/datagram.key`,
        ...(Object.keys(o.rejoin).length > 0 && { rejoin: o.rejoin }),
        ...(root !== '' && { bootIdFile: folder.host(host.name, 'boot_id') }),
      },
      null,
      2,
    )}\n`,
    0o600,
  );
  const etc = (file: string): string => readFileSync(folder.at('etc', file), 'utf8');
  put('etc/muster/nats.json', etc(join('creds', `agent=${host.node}.json`)), 0o600);
  put('etc/muster/datagram.key', etc(join('keys', 'datagram.key')), 0o600);
  unit('muster-agent.service', agentUnit(agent('main'), clockEnvironment(folder, host.name)));
}

const agentUnit = (command: string, env: Record<string, string>): string => `[Unit]
Description=Muster uptime agent
After=network-online.target
StartLimitIntervalSec=0

[Service]
${Object.entries(env)
  .map(([name, value]) => `Environment=${name}=${value}\n`)
  .join('')}ExecStart=${command}
RuntimeDirectory=muster
StateDirectory=muster
Restart=always
RestartSec=200ms

[Install]
WantedBy=multi-user.target
`;

/** sshd that is started by root insists on /run/sshd; in loopback mode that place is the machine's own, so it gets a private one. */
const sshUnit = (root: string): string => {
  const sshd = `/usr/sbin/sshd -D -e -f ${root}/etc/ssh/lab_sshd_config`;
  const borrowed = root !== '' && process.getuid?.() === 0;
  const start = borrowed
    ? `/usr/bin/unshare --mount /bin/sh -c "mount -t tmpfs tmpfs /run && mkdir /run/sshd && exec ${sshd}"`
    : sshd;
  return `[Unit]
Description=OpenBSD Secure Shell server

[Service]
ExecStart=${start}
RuntimeDirectory=sshd
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
`;
};

const sshdConfig = (host: HostPlan, root: string, lab: string): string =>
  [
    `Port ${host.sshPort}`,
    `ListenAddress ${host.networks.management}`,
    `HostKey ${root}/etc/ssh/lab_host_key`,
    `AuthorizedKeysFile ${root}/etc/ssh/lab_authorized_keys`,
    `PidFile none`,
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'StrictModes no',
    'UseDNS no',
    'PrintMotd no',
    'MaxStartups 100:30:200',
    'MaxSessions 64',
    'Subsystem sftp internal-sftp',
    // A login finds the host's own tools first, and leaves its files in the host's folder.
    ...(root === ''
      ? []
      : [
          `SetEnv "PATH=${root}/usr/local/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "HOME=${root}/home" "MUSTER_ROOT=${root}" "MUSTER_LAB_HOST=${dirname(root)}" "MUSTER_LAB_DIR=${lab}"`,
        ]),
    '',
  ].join('\n');
