#!/usr/bin/env node
/**
 * No knot of rooms in any program or library ({@link file://./rooms/knots.mjs}), and no import of a room above
 * ({@link file://./rooms/orders.mjs}). Exit 1 where there is one.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { importsWithin } from './rooms/imports.mjs';
import { complaint, knots } from './rooms/knots.mjs';
import { orders } from './rooms/orders.mjs';
import { upwards } from './rooms/upwards.mjs';

const places = ['apps', 'libs'].flatMap((top) => readdirSync(top).map((name) => join(top, name)));
const lines = places.flatMap((place) => {
  const imports = importsWithin(join(place, 'src'));
  const knotted = complaint(place, knots(imports));
  if (knotted !== undefined) return [knotted];
  const up = orders[place] === undefined ? ['it has no order'] : upwards(imports, orders[place]);
  return up.map((line) => `${place}: ${line} (scripts/rooms/orders.mjs)`);
});
for (const line of lines) process.stderr.write(`${line}\n`);
if (lines.length > 0) process.exitCode = 1;
