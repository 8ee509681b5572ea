import { run } from '../../../lab/src/run.js';

export const NETWORKS = ['management', 'backend'] as const;
const OCTET = { management: 1, backend: 2 } as const;

/** A machine of the bench: a network namespace with a cable to each switch. */
export interface Host {
  /** From 1 on. */
  n: number;
  netns: string;
  /** Network → its address there. */
  addresses: Record<(typeof NETWORKS)[number], string>;
}

/** Where NATS and the services are, over each network. */
export const CONTROL = { management: '10.77.1.1', backend: '10.77.2.1' } as const;

const hostOf = (n: number): Host => ({
  n,
  netns: `h${n}`,
  addresses: { management: address('management', n), backend: address('backend', n) },
});
const address = (network: keyof typeof OCTET, n: number): string => `10.77.${OCTET[network]}.${10 + n}`;
const mac = (network: keyof typeof OCTET, n: number): string =>
  `02:77:00:0${OCTET[network]}:00:${n.toString(16).padStart(2, '0')}`;
const port = (network: keyof typeof OCTET, n: number): string => `${network[0]}${n}`;

/** Two switches and `count` hosts, in a sandbox, for as long as the work takes. */
export async function wired<T>(count: number, work: (hosts: readonly Host[]) => Promise<T>): Promise<T> {
  const hosts = await wire(count);
  try {
    return await work(hosts);
  } finally {
    await unwire(hosts);
  }
}

/**
 * Everybody knows everybody's hardware address: the kernel's table of them
 * is one for all namespaces, and too small for 32 hosts that all talk to each other.
 */
async function wire(count: number): Promise<Host[]> {
  const hosts = Array.from({ length: count }, (_, i) => hostOf(i + 1));
  const lines = NETWORKS.flatMap((network) => [
    `link add ${network} address ${mac(network, 0)} type bridge`,
    `addr add ${CONTROL[network]}/24 dev ${network}`,
    `link set ${network} up`,
  ]);
  for (const { n, netns } of hosts) {
    lines.push(`netns add ${netns}`);
    for (const network of NETWORKS)
      lines.push(
        `link add ${port(network, n)} type veth peer name ${network} address ${mac(network, n)} netns ${netns}`,
        `link set ${port(network, n)} master ${network} up`,
        `neigh add ${address(network, n)} lladdr ${mac(network, n)} nud permanent dev ${network}`,
      );
  }
  await ip(undefined, lines);
  await Promise.all(
    hosts.map((h) =>
      ip(h.netns, [
        'link set lo up',
        ...NETWORKS.flatMap((network) => [
          `addr add ${h.addresses[network]}/24 dev ${network}`,
          `link set ${network} up`,
          `neigh add ${CONTROL[network]} lladdr ${mac(network, 0)} nud permanent dev ${network}`,
          ...hosts
            .filter(({ n }) => n !== h.n)
            .map(({ n }) => `neigh add ${address(network, n)} lladdr ${mac(network, n)} nud permanent dev ${network}`),
        ]),
      ]),
    ),
  );
  return hosts;
}

async function unwire(hosts: readonly Host[]): Promise<void> {
  await ip(undefined, [
    // A namespace goes some time after its last process: its cables would keep their names until then.
    ...hosts.flatMap((h) => NETWORKS.map((network) => `link del ${port(network, h.n)}`)),
    ...NETWORKS.map((network) => `link del ${network}`),
    ...hosts.map((h) => `netns del ${h.netns}`),
  ]);
}

/** As a host that loses its power: nothing of it goes out any more, and nothing refuses what comes. */
export const unplug = (h: Host): Promise<void> =>
  ip(
    undefined,
    NETWORKS.map((network) => `link set ${port(network, h.n)} down`),
  );

export const plug = (h: Host): Promise<void> =>
  ip(
    undefined,
    NETWORKS.map((network) => `link set ${port(network, h.n)} up`),
  );

/** Of whatever comes in over a network, at every host and at the control machine, so many in a hundred are lost. */
export async function losing(hosts: readonly Host[], percent: number, work: () => Promise<void>): Promise<number> {
  const drop = `iifname { ${NETWORKS.join(', ')} } numgen random mod 100 < ${percent} counter drop`;
  const rules = `table inet bench {\n chain input {\n type filter hook input priority 0\n ${drop}\n }\n}\n`;
  await everywhere(hosts, ['nft', '-f', '-'], rules);
  let tables: string[];
  try {
    await work();
  } finally {
    tables = await everywhere(hosts, ['nft', 'list', 'table', 'inet', 'bench']);
    await everywhere(hosts, ['nft', 'delete', 'table', 'inet', 'bench']);
  }
  return tables.reduce((sum, table) => sum + Number(/counter packets (\d+)/.exec(table)?.[1]), 0);
}

async function everywhere(
  hosts: readonly Host[],
  [command, ...args]: [string, ...string[]],
  input = '',
): Promise<string[]> {
  const commands: [string, string[]][] = [[command, args], ...hosts.map((h) => on(h, command, ...args))];
  return Promise.all(commands.map(([c, a]) => run(c, a, { input })));
}

/** A command that is to run on this host, as its own first process: its pid is the command's. */
export const on = (h: Host, ...argv: string[]): [command: string, args: string[]] => [
  'nsenter',
  [`--net=/run/netns/${h.netns}`, ...argv],
];

async function ip(netns: string | undefined, lines: readonly string[]): Promise<void> {
  await run('ip', [...(netns === undefined ? [] : ['-n', netns]), '-batch', '-'], { input: `${lines.join('\n')}\n` });
}
