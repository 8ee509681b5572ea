import { hostname } from 'node:os';
import type { ServiceConfig } from '#service';

/*
 * Of several control hosts each inventory looks at files and a disk that nobody else sees. Its alarms name the host, and
 * it ends no other's: three that shared a subject would raise and end each other's in turn.
 */

/** What an inventory looks at on its own host. */
const HostSubjects = ['nats', 'http', 'disk'] as const;
export type HostSubject = (typeof HostSubjects)[number];

/** Subject of its alarm. `host`: absent where there is one control host. */
export const hostSubject = (subject: HostSubject, host: string | undefined): string =>
  host === undefined ? subject : `${subject}.${host}`;

/** May who is on this host end it? One without a host was raised when there was one host: anybody may. */
export const isOfHost = (subject: string, host: string | undefined): boolean =>
  host === undefined || HostSubjects.some((s) => subject === s || subject === hostSubject(s, host));

/** Whose files and disk an inventory looks at; undefined where there is one control host. */
export const controlHost = ({ replicas, host }: Pick<ServiceConfig, 'replicas' | 'host'>): string | undefined =>
  replicas > 1 ? (host.name ?? hostname()) : undefined;
