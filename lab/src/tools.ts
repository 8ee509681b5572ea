import { accessSync, constants } from 'node:fs';

const PLACES = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Of these programs, those that are not installed where a host of the lab would find them. */
export const missingTools = (tools: readonly string[]): string[] =>
  tools.filter(
    (tool) =>
      !PLACES.some((place) => {
        try {
          accessSync(`${place}/${tool}`, constants.X_OK);
          return true;
        } catch {
          return false; // not in this place
        }
      }),
  );
