#!/usr/bin/env node
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { performance } from 'node:perf_hooks';
import { MusterError, parseDatagramKeys } from '#contracts';
import { LabFolder } from '../folder.js';
import { AGENT_PORT } from '../host-image.js';
import { natsUrls } from '../plan.js';
import { peersSocket, type PeersAnswer, type PeersRequest } from './peers-process.js';
import { readPeersCredentials } from './peers-user.js';
import { SimulatedPeers } from './simulated-peers.js';

/** The lab's simulated peers, until SIGTERM. `node main.js FOLDER`; a line of JSON in, one out, on the socket. */
const folder = new LabFolder(process.argv[2] ?? '');
const plan = folder.plan();
const say = (facts: object, message: string): void => {
  const err = (facts as { err?: Error }).err;
  process.stdout.write(
    `${JSON.stringify({ time: Date.now(), ...facts, ...(err && { err: err.message }), message })}\n`,
  );
};

const peers = await SimulatedPeers.start({
  peers: plan.peers.map((p) => ({ name: p.node, networks: p.networks })),
  cluster: plan.cluster,
  keys: parseDatagramKeys(readFileSync(folder.at('etc', 'keys', 'datagram.key'), 'utf8')),
  port: AGENT_PORT,
  servers: natsUrls(plan).management,
  credentials: readPeersCredentials(folder),
  log: { debug: () => undefined, info: say, warn: say, error: say },
});

function act(request: PeersRequest): PeersAnswer {
  const time = { ns: Number(process.hrtime.bigint()), at: Date.now() };
  if ('kill' in request) peers.kill(request.kill);
  if ('boot' in request) peers.boot(request.boot);
  return { ok: true, ...time, dead: peers.dead, reporting: peers.reporting };
}

function answer(line: string): PeersAnswer {
  try {
    return act(JSON.parse(line) as PeersRequest);
  } catch (e) {
    const { code, message } = MusterError.from(e);
    return { ok: false, code, message };
  }
}

const path = peersSocket(folder);
rmSync(path, { force: true });
createServer((client) => {
  client.on('error', () => client.destroy()); // it went away; nothing is owed to it
  createInterface({ input: client }).once('line', (line) => client.end(`${JSON.stringify(answer(line))}\n`));
}).listen(path, () => chmodSync(path, 0o600));
say({ peers: plan.peers.length, ms: Math.round(performance.now()) }, 'simulated peers run');

process.on('SIGTERM', () => void peers.close().then(() => process.exit(0)));
