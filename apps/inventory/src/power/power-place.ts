import { ipBytes, MusterError, OUTLET_OPTIONS, type NodeRecord, type PowerDevice } from '#contracts';

/** Addresses of a name as last looked up; undefined: not known. */
export type AddressesOf = (name: string) => readonly string[] | undefined;

export interface PlaceHolder {
  node: string;
  device: PowerDevice;
}

export interface PlaceBook {
  /** A device of another node at the same place (address, port, driver and outlet), unless both are declared shared. */
  conflictOf(node: string, d: PowerDevice): PlaceHolder | undefined;
  /** All of them. */
  conflictsOf(node: string, d: PowerDevice): PlaceHolder[];
  /** Devices of other nodes at the same address, under another port, driver or outlet: worth a second look. */
  neighboursOf(node: string, d: PowerDevice): PlaceHolder[];
}

type Placed = Pick<NodeRecord, 'name'> & Partial<Pick<NodeRecord, 'powerLevels'>>;

const DEFAULT_PORT: Record<string, number> = { ipmitool: 623 };

/** As it is told: `10.2.0.1:623`, with the outlet where there is one. */
export function placeText(d: PowerDevice): string {
  const port = d.port ?? DEFAULT_PORT[d.driver];
  const outlet = OUTLET_OPTIONS.flatMap((name) =>
    d.options?.[name] === undefined ? [] : [`${name} ${d.options[name]}`],
  );
  return [`${d.address}${port === undefined ? '' : `:${port}`}`, ...outlet].join(' ');
}

/** One writing for each address: `::ffff:10.0.0.1` is 10.0.0.1, and a name has no case. */
function canonical(address: string): string {
  const bytes = ipBytes(address);
  if (bytes === undefined) return address.toLowerCase().replace(/\.$/, '');
  const mapped = bytes.length === 16 && bytes.slice(0, 12).join('.') === '0.0.0.0.0.0.0.0.0.0.255.255';
  return (mapped ? bytes.slice(12) : bytes).join('.');
}

/** The name itself as well: two devices under one name are one, whatever it stands for at this moment. */
const hostsOf = (d: PowerDevice, addressesOf: AddressesOf): string[] => [
  ...new Set([d.address, ...(addressesOf(d.address) ?? [])].map(canonical)),
];

const unitOf = (d: PowerDevice): string =>
  JSON.stringify([
    d.driver,
    d.port ?? DEFAULT_PORT[d.driver] ?? '',
    ...OUTLET_OPTIONS.map((name) => d.options?.[name]?.trim().toLowerCase() ?? ''),
  ]);

export function placeBook(nodes: Iterable<Placed>, addressesOf: AddressesOf = () => undefined): PlaceBook {
  // Thousands of devices may stand behind one address, each at a port of its own.
  const at = { place: new Map<string, PlaceHolder[]>(), host: new Map<string, PlaceHolder[]>() };
  const add = (book: Map<string, PlaceHolder[]>, key: string, holder: PlaceHolder): void => {
    const there = book.get(key);
    if (there === undefined) book.set(key, [holder]);
    else there.push(holder);
  };
  for (const { name, powerLevels = [] } of nodes)
    for (const device of powerLevels.flat())
      for (const host of hostsOf(device, addressesOf)) {
        add(at.host, host, { node: name, device });
        add(at.place, placeKey(host, device), { node: name, device });
      }
  const sharersOf = (node: string, d: PowerDevice): PlaceHolder[] =>
    hostsOf(d, addressesOf)
      .flatMap((host) => at.place.get(placeKey(host, d)) ?? [])
      .filter((h) => h.node !== node && !(h.device.shared === true && d.shared === true));
  return {
    conflictsOf: sharersOf,
    conflictOf: (node, d) => sharersOf(node, d)[0],
    neighboursOf: (node, d) =>
      hostsOf(d, addressesOf)
        .flatMap((host) => at.host.get(host) ?? [])
        .filter((h) => h.node !== node && unitOf(h.device) !== unitOf(d)),
  };
}

const placeKey = (host: string, d: PowerDevice): string => `${host} ${unitOf(d)}`;

/**
 * An off that is meant for one node would reach the other.
 * @throws MusterError ALREADY_EXISTS naming the node that has the place
 */
export function checkPlaces(node: string, powerLevels: readonly PowerDevice[][], book: PlaceBook): void {
  for (const device of powerLevels.flat()) {
    const other = book.conflictOf(node, device);
    if (other !== undefined)
      throw new MusterError(
        'ALREADY_EXISTS',
        `power device ${device.id} is at ${placeText(device)}, where node ${other.node} has its power device ${other.device.id}: give ${node} its own address or outlet, correct ${other.node} first, or declare both devices shared where one outlet does feed both nodes`,
        { node: other.node, device: other.device.id, address: device.address },
      );
  }
}

export interface PlaceConflict {
  node: string;
  device: string;
  place: string;
  /** Other nodes that have a device there. */
  others: string[];
}

/** Devices in the store that reach another node's place: none of them can be trusted to switch off its own node only. */
export function placeConflicts(nodes: readonly Placed[], addressesOf: AddressesOf): PlaceConflict[] {
  const all = nodes.flatMap((n) => (n.powerLevels ?? []).flat().map((device) => ({ node: n.name, device })));
  const book = placeBook(nodes, addressesOf);
  return all.flatMap(({ node, device }) => {
    const others = [...new Set(book.conflictsOf(node, device).map((h) => h.node))];
    return others.length === 0 ? [] : [{ node, device: device.id, place: placeText(device), others }];
  });
}
