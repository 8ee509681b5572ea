import { setTimeout as sleep } from 'node:timers/promises';
import { MusterError, type StatusView } from '#contracts';

/** Nodes in one event, as a monitor of a large fleet sends them at its start. */
const EVENT = 1000;
const KNOWN_MS = 60_000;

/**
 * Nodes `from` up to `to`, by an external monitor's word: they need no agents. Resolves when all are known, with how long
 * the monitor waited for each event to be accepted, ms.
 */
export async function discover(api: string, from: number, to: number): Promise<number[]> {
  const waited: number[] = [];
  for (let at = from; at < to; at += EVENT) {
    const nodes = Array.from({ length: Math.min(EVENT, to - at) }, (_, i) => node(at + i));
    const since = performance.now();
    const answer = await fetch(`${api}/monitor/event`, json('POST', { monitor_event: { name: 'discovered', nodes } }));
    if (!answer.ok)
      throw new MusterError('COMMAND_FAILED', `the nodes were not taken: ${answer.status} ${await answer.text()}`);
    waited.push(performance.now() - since);
  }
  const deadline = performance.now() + KNOWN_MS;
  for (;;) {
    const answer = await fetch(`${api}/v1/status`);
    const text = await answer.text();
    // Refused by a machine that is busy with others: asked again.
    const known = answer.ok ? (JSON.parse(text) as StatusView).nodes.total : undefined;
    if (known !== undefined && known >= to) return waited;
    if (performance.now() > deadline) {
      const why =
        known === undefined ? `the status was answered by ${answer.status} ${text.slice(0, 300)}` : `${known} are`;
      throw new MusterError('TIMEOUT', `${to} nodes are not all known after ${KNOWN_MS / 1000} s: ${why}`);
    }
    await sleep(50);
  }
}

/** How long an answer about so many nodes, each by its name, takes: the median of five, ms. */
export async function infoOfNames(api: string, count: number): Promise<number> {
  const names = Array.from({ length: count }, (_, n) => `bench${n}-X`);
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const since = performance.now();
    const answer = await fetch(`${api}/info/nodes?nodes=${names.join(',')}`);
    const found = Object.keys((await answer.json()) as object).length;
    times.push(performance.now() - since);
    if (found !== count) throw new MusterError('COMMAND_FAILED', `info/nodes tells ${found} nodes of ${count} names`);
  }
  return times.sort((a, b) => a - b)[2] as number;
}

const node = (n: number): { label: string; serial: string; addr: string } => ({
  label: `bench${n}`,
  serial: 'X',
  addr: `10.${100 + Math.floor(n / 62_500)}.${Math.floor(n / 250) % 250}.${(n % 250) + 1}`,
});

const json = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});
