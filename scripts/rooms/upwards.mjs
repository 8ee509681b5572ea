import { roomOf } from './knots.mjs';

/**
 * What stands against the order of rooms: an import of a room that does not come before, a room that is not in it, and
 * one that is in it and is gone.
 *
 * @param imports file → files that it imports, as paths with `/`
 * @param order names of rooms from the lowest up, with white space between them; without `.`, which is above all
 * @returns each as a line
 */
export function upwards(imports, order) {
  const rooms = [...order.split(/\s+/).filter((room) => room !== ''), '.'];
  const rank = new Map(rooms.map((room, i) => [room, i]));
  const there = new Set([...imports.keys()].map(roomOf));
  const unknown = [...there].filter((room) => !rank.has(room)).map((room) => `${room} has no place in the order`);
  const gone = rooms
    .filter((room) => room !== '.' && !there.has(room))
    .map((room) => `${room} is in the order and gone`);
  const up = [...imports].flatMap(([from, all]) =>
    all
      .filter((to) => roomOf(to) !== roomOf(from) && rank.get(roomOf(to)) > rank.get(roomOf(from)))
      .map((to) => `${from} → ${to}: ${roomOf(to)} is above ${roomOf(from)}`),
  );
  return [...unknown, ...gone, ...up];
}
