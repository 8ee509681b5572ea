/** One node of the cluster as its files name it. */
export interface PacemakerNode {
  name: string;
  /** From 1 on. */
  id: number;
  rings: readonly string[];
  bmc: { address: string; port: number };
}

export interface CorosyncTimes {
  /** ms until a node that is silent is given up; half as long again and more goes by until the rest agree. @default Corosync's own: 3000 */
  token?: number;
  /** ms that are added to it for each node above two. @default Corosync's own: 650 */
  tokenCoefficient?: number;
}

/** As `pcs cluster setup` writes it: knet over all rings, encrypted. */
export const corosyncConf = (nodes: readonly PacemakerNode[], times: CorosyncTimes): string => `totem {
  version: 2
  cluster_name: bench
  transport: knet
  crypto_cipher: aes256
  crypto_hash: sha256
${setting('token', times.token)}${setting('token_coefficient', times.tokenCoefficient)}}
logging {
  to_stderr: no
  to_syslog: no
  to_logfile: yes
  logfile: /var/log/units/corosync.log
  timestamp: hires
}
quorum {
  provider: corosync_votequorum
}
nodelist {
${nodes
  .map(
    ({ name, id, rings }) => `  node {
    name: ${name}
    nodeid: ${id}
${rings.map((address, ring) => `    ring${ring}_addr: ${address}`).join('\n')}
  }`,
  )
  .join('\n')}
}
`;

const setting = (name: string, value: number | undefined): string =>
  value === undefined ? '' : `  ${name}: ${value}\n`;

/**
 * The work as Pacemaker starts it: the very program that Muster starts, so that it writes the same ledger. An init script
 * is the one kind of resource agent that can be put into a host's /etc.
 */
export const initScript = (heartbeat: string, workload: string): string => `#!/bin/sh
# Resource of the bench: a workload that tells the ledger where it runs.
pid=/run/${workload}.pid
running() { [ -s $pid ] && kill -0 "$(cat $pid)" 2>/dev/null; }
case $1 in
  start)
    running && exit 0
    setsid /usr/bin/python3 -I -S ${heartbeat} ${workload} </dev/null >/dev/null 2>&1 &
    echo $! > $pid ;;
  stop)
    if running; then kill -KILL "$(cat $pid)"; fi
    rm -f $pid ;;
  status)
    running || exit 3 ;;
esac
`;

/**
 * A fence device for each node, and the work. The dead are powered off and left so, as Muster does it before it starts
 * their work: Pacemaker's default would switch them on again first, which takes two seconds more.
 */
export const configuration = (
  nodes: readonly PacemakerNode[],
  workload: string,
  login: { user: string; password: string },
): { options: string; resources: string } => ({
  options: `<crm_config><cluster_property_set id="options">${nvpair('options', 'stonith-action', 'off')}</cluster_property_set></crm_config>`,
  resources: `<resources>
${nodes.map((node) => fenceDevice(node, login)).join('\n')}
<primitive id="${workload}" class="lsb" type="${workload}">
<meta_attributes id="${workload}-meta">${nvpair(`${workload}-meta`, 'resource-stickiness', '100')}</meta_attributes>
<operations><op id="${workload}-monitor" name="monitor" interval="10s"/></operations>
</primitive>
</resources>
`,
});

function fenceDevice({ name, bmc }: PacemakerNode, login: { user: string; password: string }): string {
  const id = `fence-${name}`;
  const attributes = {
    ip: bmc.address,
    ipport: String(bmc.port),
    username: login.user,
    password: login.password,
    lanplus: '1',
    cipher: '3',
    pcmk_host_list: name,
  };
  const pairs = Object.entries(attributes).map(([key, value]) => nvpair(id, key, value));
  return `<primitive id="${id}" class="stonith" type="fence_ipmilan">
<instance_attributes id="${id}-attributes">${pairs.join('')}</instance_attributes>
<operations><op id="${id}-monitor" name="monitor" interval="60s"/></operations>
</primitive>`;
}

const nvpair = (of: string, name: string, value: string): string =>
  `<nvpair id="${of}-${name}" name="${name}" value="${value}"/>`;

/** Run once on each host, with the folder of the files above as its argument. The lab's own agent goes. */
export const installation = (workload: string): string => `set -e
systemctl disable muster-agent.service
systemctl stop muster-agent.service
install -m 400 "$1/authkey" /etc/corosync/authkey
install -m 644 "$1/corosync.conf" /etc/corosync/corosync.conf
install -m 755 "$1/${workload}" /etc/init.d/${workload}
cat > /etc/systemd/system/corosync.service <<END
[Service]
ExecStart=/usr/sbin/corosync -f
[Install]
WantedBy=multi-user.target
END
cat > /etc/systemd/system/pacemaker.service <<END
[Unit]
After=corosync.service
[Service]
Environment=PCMK_logfile=/var/log/units/pacemaker.log PCMK_logfacility=none
ExecStartPre=/bin/sh -c 'until corosync-cfgtool -s >/dev/null 2>&1; do sleep 0.1; done'
ExecStart=/usr/sbin/pacemakerd
[Install]
WantedBy=multi-user.target
END
systemctl enable corosync.service pacemaker.service
systemctl start corosync.service pacemaker.service
`;
