#!/usr/bin/env node
/**
 * No knot of rooms in any program or library ({@link file://./rooms/knots.mjs}), and no import of a room above
 * ({@link file://./rooms/orders.mjs}). Those that have a knot still may not grow it: neither the rooms nor the imports in it.
 * Exit 1 where there is one, and where `known` says more than there is.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { importsWithin } from './rooms/imports.mjs';
import { complaint, knots } from './rooms/knots.mjs';
import { orders } from './rooms/orders.mjs';
import { upwards } from './rooms/upwards.mjs';

/** To become fewer: what is lost here is not won back. */
const known = {
  'libs/bus': { rooms: 2, imports: 2 },
};

const places = ['apps', 'libs'].flatMap((top) => readdirSync(top).map((name) => join(top, name)));
const lines = places.flatMap((place) => {
  const imports = importsWithin(join(place, 'src'));
  const knotted = complaint(place, knots(imports), known[place]);
  if (knotted !== undefined) return [knotted];
  if (known[place] !== undefined) return [];
  const up = orders[place] === undefined ? ['it has no order'] : upwards(imports, orders[place]);
  return up.map((line) => `${place}: ${line} (scripts/rooms/orders.mjs)`);
});
for (const line of lines) process.stderr.write(`${line}\n`);
if (lines.length > 0) process.exitCode = 1;
