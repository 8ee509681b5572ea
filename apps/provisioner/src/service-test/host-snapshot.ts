/** What stood on a host at one moment, as `muster_snapshot` reports it. */
export interface HostSnapshot {
  /** Path → mark of what it holds: SHA-256 of a file. */
  files: Record<string, string>;
  /** Folders that hold too many files to be read, in this snapshot. */
  leftOut: string[];
  units: string[];
  processes: { pid: number; started: number; command: string }[];
  /** `tcp 8080` */
  ports: string[];
}

/** What a service has left behind, each as it is named to its author. */
export interface LeftBehind {
  left: string[];
  /** Files of others that are not put back as they were. */
  changed: string[];
}

/** Undefined: it is none; what a host sends is validated. */
export function readSnapshot(x: unknown): HostSnapshot | undefined {
  if (!isObject(x)) return undefined;
  const { files, leftOut, units, processes, ports } = x;
  const isWhole =
    isObject(files) &&
    Object.values(files).every(isText) &&
    [leftOut, units, ports].every((list) => Array.isArray(list) && list.every(isText)) &&
    Array.isArray(processes) &&
    processes.every((p) => isObject(p) && isWhole32(p['pid']) && isWhole32(p['started']) && isText(p['command']));
  return isWhole ? (x as unknown as HostSnapshot) : undefined;
}

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);
const isText = (x: unknown): x is string => typeof x === 'string';
const isWhole32 = (x: unknown): boolean => Number.isSafeInteger(x);

/**
 * What the set-ups have brought and the cleanup has not taken away. What came while no snapshot was taken is not the
 * service's: hosts have a life of their own.
 * @param during after each set-up that ended well; none: everything that is new counts
 * @param rendered SHA-256 of what its templates and files hold: a file with this content is its own, also one that stood
 * there before, left by an earlier test
 */
export function leftBehind(
  before: HostSnapshot,
  during: readonly HostSnapshot[],
  after: HostSnapshot,
  rendered: ReadonlySet<string>,
): LeftBehind {
  const snapshots = during.length > 0 ? during : [after];
  // What one snapshot lacks is no difference.
  const unseen = new Set([before, ...snapshots, after].flatMap((snapshot) => snapshot.leftOut));
  const were = Object.keys(after.files).filter((path) => Object.hasOwn(before.files, path));
  const is = (path: string): string | undefined => after.files[path];
  const paths = Object.keys(after.files).filter(
    (path) => !Object.hasOwn(before.files, path) && snapshots.some((snapshot) => Object.hasOwn(snapshot.files, path)),
  );
  const older = were.filter((path) => before.files[path] === is(path) && rendered.has(is(path) ?? ''));
  const changed = were.filter(
    (path) =>
      is(path) !== before.files[path] && snapshots.some((snapshot) => snapshot.files[path] !== before.files[path]),
  );
  const gone = Object.keys(before.files).filter(
    (path) =>
      !Object.hasOwn(after.files, path) && snapshots.some((snapshot) => snapshot.files[path] !== before.files[path]),
  );
  const units = onlyLater(
    before.units,
    snapshots.map((l) => l.units),
    after.units,
  );
  const ofFiles = outermost([...paths, ...older].filter((path) => !isBelow(path, unseen))).map(nameOfPath);
  const all = (l: HostSnapshot): string[] => l.processes.map(identityOf);
  const later = onlyLater(all(before), snapshots.map(all), all(after));
  const processes = after.processes.filter((p) => later.includes(identityOf(p)));
  const ports = onlyLater(
    before.ports,
    snapshots.map((l) => l.ports),
    after.ports,
  );
  return {
    left: [
      ...new Set([...ofFiles, ...units.map((u) => `unit ${u}`), ...ports.map((p) => `port ${p}`)]),
      ...processes.map((p) => `process ${p.pid} (${p.command})`),
    ],
    changed: [...changed, ...gone].filter((path) => !isBelow(path, unseen) && !isState(path)).sort(),
  };
}

/** What programs write while they run, and change at any time. */
const isState = (path: string): boolean => /\/var\/(lib|spool)\//.test(path);

const onlyLater = (before: string[], during: string[][], after: string[]): string[] =>
  after.filter((x) => !before.includes(x) && during.some((list) => list.includes(x)));

/** The same number may belong to another process by now. */
const identityOf = (p: HostSnapshot['processes'][number]): string => `${p.pid} ${p.started}`;

/** A unit is called by its name, as who has to end it does. */
function nameOfPath(path: string): string {
  const unit = /\/systemd\/system\/([^/]+\.(service|socket|timer|path))$/.exec(path)?.[1];
  return unit === undefined ? path : `unit ${unit}`;
}

/** Of a folder that is left, not every file below it. */
function outermost(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return [...all].filter((path) => !isBelow(path, all)).sort();
}

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    if (folders.has(path.slice(0, at))) return true;
  return false;
}
