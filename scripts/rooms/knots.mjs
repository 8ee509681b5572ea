/**
 * Knots of rooms: a room is a folder with the files that lie in it directly, and rooms are in one knot where each is
 * reached from each by imports. Where there is none, every room stands on rooms below it; an import from a room of what
 * composes it, above, makes one.
 *
 * @param imports file → files that it imports, as paths with `/`
 * @returns each knot with the rooms in it, sorted, and the imports between them
 */
export function knots(imports) {
  const arrows = [...imports].flatMap(([from, all]) =>
    all.map((to) => ({ from, to })).filter(({ to }) => roomOf(from) !== roomOf(to)),
  );
  const next = new Map();
  for (const { from, to } of arrows) next.set(roomOf(from), (next.get(roomOf(from)) ?? new Set()).add(roomOf(to)));
  const all = Array.from(next.keys(), String).toSorted();
  const reached = new Map(all.map((room) => [room, reachedFrom(room, next)]));
  const inKnot = (a, b) => reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true;
  const found = [];
  for (const room of all) {
    if (!inKnot(room, room) || found.some((k) => k.rooms.includes(room))) continue;
    const rooms = all.filter((other) => inKnot(room, other));
    const between = ({ from, to }) => rooms.includes(roomOf(from)) && rooms.includes(roomOf(to));
    found.push({ rooms, arrows: arrows.filter(between).map(({ from, to }) => `${from} → ${to}`) });
  }
  return found;
}

/** What is wrong with these knots; undefined: there is none. */
export function complaint(place, found) {
  if (found.length === 0) return undefined;
  const arrows = found.reduce((sum, k) => sum + k.arrows.length, 0);
  const shown = found.flatMap((k) => [
    `  knot of ${k.rooms.join(', ')}:`,
    ...few(k.arrows).map((arrow) => `    ${arrow}`),
  ]);
  return [`${place}: ${arrows} imports lead round: a room may import only rooms below it`, ...shown].join('\n');
}

const MOST_SHOWN = 40;
const few = (lines) =>
  lines.length <= MOST_SHOWN ? lines : [...lines.slice(0, MOST_SHOWN), `and ${lines.length - MOST_SHOWN} more`];

/** The folder that a file lies in; `.`: that of the program itself. */
export const roomOf = (file) => file.slice(0, Math.max(0, file.lastIndexOf('/'))) || '.';

function reachedFrom(room, next) {
  const reached = new Set();
  const open = [room];
  for (let at = open.pop(); at !== undefined; at = open.pop())
    for (const to of next.get(at) ?? [])
      if (!reached.has(to)) {
        reached.add(to);
        open.push(to);
      }
  return reached;
}
