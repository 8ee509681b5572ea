import { isDeepStrictEqual } from 'node:util';
import { until } from '../../../lab/src/until.js';
import { services, type Composition, type Service } from './composition.js';
import type { ControlMachine } from './control-machine.js';
import type { ControlHosts } from './hosts/control-hosts.js';
import type { LabHosts } from './lab-hosts.js';
import type { Station } from './station.js';

/** Until all services of a composition that was told to start pass their health checks. */
const UP_MS = 180_000;
/** Until a service that was killed is healthy again: it starts in seconds, and is asked every 10 s. */
export const AGAIN_MS = 90_000;

/** What the checks share: each adds to it what the next ones need. */
export interface Scene {
  machine: ControlMachine;
  composition: Composition;
  /** Comes up when the other one is down: both have the same ports. */
  demo: Composition;
  /** They come up when both are down: five services of each are enough for one machine. */
  controlHosts: ControlHosts;
  station: Station;
  hosts: LabHosts;
  /** This clone's folder. */
  root: string;
  token: string;
}

export interface Check {
  name: string;
  title: string;
  /** Names of earlier checks whose scene it is played on. */
  needs: readonly string[];
  /** Resolves with what was seen, in a line; rejects with what was wrong. */
  run: (scene: Scene) => Promise<string>;
}

export function same(what: string, seen: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(seen, expected))
    throw new Error(`${what}: ${JSON.stringify(seen)}, expected ${JSON.stringify(expected)}`);
}

export function holds(what: string, is: boolean): void {
  if (!is) throw new Error(what);
}

export const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

/** Who asks the gateway of a machine. */
export interface Asker {
  machine: { answer(where: 'machine', command: string, args: readonly string[], input?: string): Promise<string> };
  token: string;
}

/** The gateway's answer, as the machine itself gets it. */
export async function http(
  { machine, token }: Asker,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; text: string }> {
  // On stdin: an argument is seen by others.
  const quoted = (text: string): string => JSON.stringify(text);
  const config = [
    `request = ${method}`,
    `url = ${quoted(`http://127.0.0.1:9007${path}`)}`,
    ...(token === '' ? [] : [`header = ${quoted(`authorization: Bearer ${token}`)}`]),
    ...(body === undefined
      ? []
      : ['header = "content-type: application/json"', `data = ${quoted(JSON.stringify(body))}`]),
    'silent',
    'max-time = 15',
    `write-out = "\\n%{http_code}"`,
    '',
  ];
  // 000 where nobody answers.
  const answer = await machine.answer('machine', 'curl', ['-K', '-'], config.join('\n'));
  const at = answer.lastIndexOf('\n');
  return { status: Number(answer.slice(at + 1)), text: answer.slice(0, at) };
}

/** As {@link http}, for what must be answered well. */
export async function ask<T>(scene: Asker, method: string, path: string, body?: unknown): Promise<T> {
  const { status, text } = await http(scene, method, path, body);
  if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** Of every node on record what no fault of the control machine may change, and nothing more. */
export async function fleet(scene: Scene): Promise<unknown[]> {
  const { items } = await ask<{ items: Record<string, unknown>[] }>(scene, 'GET', '/v1/nodes?limit=100');
  return items.map(({ name, label, serial, networks, status, state, vars, hostGroup, inService }) => ({
    ...{ name, label, serial, networks, status, state, vars, hostGroup, inService },
  }));
}

/** Until the fleet is as it was. */
export async function fleetIs(scene: Scene, expected: unknown[]): Promise<void> {
  let seen: unknown;
  try {
    await until(
      'the fleet to be as it was',
      AGAIN_MS,
      async () => {
        seen = await fleet(scene);
        same('the fleet', seen, expected);
        return true;
      },
      500,
    );
  } catch (e) {
    throw new Error(`${(e as Error).message}; seen: ${JSON.stringify(seen)}`, { cause: e });
  }
}

/** @param since times of start: only a run that began after these counts */
export async function allHealthy(
  composition: Composition,
  since: Partial<Record<Service, string>> = {},
): Promise<void> {
  for (const service of services) await composition.healthy(service, UP_MS, since[service]);
}
