import { connect } from 'node:net';
import { join } from 'node:path';
import { MusterError, type ErrorCode } from '#contracts';
import type { LabFolder } from '../folder.js';
import type { LabPlan } from '../plan.js';
import { startOf, type Processes } from '../processes.js';
import { Hopeless, until } from '../until.js';

/** All simulated peers are this one process. */
export const PEERS = 'peers';

export type PeersRequest = { kill: string[] } | { boot: string[] } | { state: true };
export type PeersAnswer =
  | { ok: true; ns: number; at: number; dead: string[]; reporting: number }
  | { ok: false; code: ErrorCode; message: string };
export type PeersState = Extract<PeersAnswer, { ok: true }>;

export const peersSocket = (folder: LabFolder): string => folder.at('run', 'peers.sock');

/** Resolves when all of them are bound. COMMAND_FAILED where the process ends at once. */
export async function startPeers(folder: LabFolder, processes: Processes, plan: LabPlan): Promise<void> {
  if (plan.namespaces?.peers === undefined) return;
  const record = processes.start({
    name: PEERS,
    argv: [process.execPath, join(import.meta.dirname, 'main.js'), folder.path],
    netns: plan.namespaces.peers,
  });
  await until(`simulated peers to run; see ${record.log}`, 60_000, async () => {
    if (startOf(record.pid) !== record.start)
      throw new Hopeless(new MusterError('COMMAND_FAILED', `simulated peers ended; see ${record.log}`));
    return await askPeers(folder, { state: true });
  });
}

/** NOT_FOUND where there are none, or they do not run; else what they answer. */
export async function askPeers(folder: LabFolder, request: PeersRequest): Promise<PeersState> {
  const text = await new Promise<string>((resolve, reject) => {
    let said = '';
    const socket = connect(peersSocket(folder));
    socket.setEncoding('utf8').on('data', (d: string) => (said += d));
    socket.on('end', () => resolve(said));
    socket.on('error', (cause) =>
      reject(new MusterError('NOT_FOUND', 'no simulated peers run; start a lab with: lab up --peers N', {}, { cause })),
    );
    socket.write(`${JSON.stringify(request)}\n`);
  });
  const answer = JSON.parse(text) as PeersAnswer;
  if (!answer.ok) throw new MusterError(answer.code, answer.message);
  return answer;
}
