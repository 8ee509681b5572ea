import { Refusal } from '../server/server.js';
import { printed, quoted } from './go-text.js';

/** A request of the old client, in the order and under the names that its own struct had. */
export interface OldRequest {
  nodes?: string[];
  addresses?: string[];
  host_group?: string;
  extra_vars?: string;
  config?: unknown;
}

/** What the old client said of a request that the server refused; the path without its first slash. */
export const refusalText = (path: string, request: OldRequest | undefined, refusal: Refusal): string =>
  `Request URL: ${path} Request Body: ${requestText(request)} Response status: ${quoted(refusal.wire.statusLine)}. Response body: ${refusal.wire.body}`;

function requestText(request: OldRequest | undefined): string {
  if (request === undefined) return '<nil>';
  const { nodes = [], addresses = [], host_group = '', extra_vars = '', config } = request;
  // A configuration was shown by its address in memory: there is none here.
  const last = config === undefined ? '<nil>' : '<set>';
  return `&{Nodes:${printed(nodes)} Addrs:${printed(addresses)} HostGroup:${host_group} ExtraVars:${extra_vars} Job: Event:{Name: Nodes:[]} Config:${last}}`;
}

export const countText = (expected: string, received: number): string =>
  `command expects ${expected} arg(s) but received ${received}`;

/** The last line of the old client, as its logger wrote it: for a person in red, else as fields. */
export function fatalLine(message: string, at: Date, interactive: boolean): string {
  if (interactive) return `\u001b[31mFATA\u001b[0m[0000] ${message.padEnd(44)} \n`;
  return `time="${local(at)}" level=fatal msg=${quoted(message)} \n`;
}

const two = (n: number): string => String(Math.floor(n)).padStart(2, '0');

/** RFC 3339 in this machine's zone, to the second. */
function local(at: Date): string {
  const offset = -at.getTimezoneOffset();
  const shifted = new Date(at.getTime() + offset * 60_000).toISOString().slice(0, 19);
  const ahead = Math.abs(offset);
  return `${shifted}${offset === 0 ? 'Z' : `${offset < 0 ? '-' : '+'}${two(ahead / 60)}:${two(ahead % 60)}`}`;
}
