#!/usr/bin/env node
/**
 * Health check of a service in a container: asks the socket MUSTER_HEALTH of the process that it belongs to. Exit 0: it
 * works; 1: it does not, and one line says why. An engine restarts what has ended, not what stands still: at the third
 * time in a row that the service does not answer, or says that it stands still, it is killed, and the engine starts it
 * again. A service that has not been up yet, or is only without NATS, is never killed.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A service that takes longer to answer stands still, ms. */
const ANSWER_MS = 3_000;
/** Checks in a row. At 10 s each it is the 30 s of the units for systemd. */
const FAILURES = 3;

const path = process.env.MUSTER_HEALTH ?? '/run/muster/health.sock';
const failures = join(dirname(path), 'failures');

const { status, detail = '' } = await ask();
if (status === 'ok') rmSync(failures, { force: true });
else {
  process.stdout.write(`${status}${detail === '' ? '' : `: ${detail}`}\n`);
  process.exitCode = 1;
  if (status === 'stalled' || status === 'silent') countAndEnd();
}

async function ask() {
  const socket = connect(path);
  socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error(`no answer within ${ANSWER_MS / 1000} s`)));
  try {
    return JSON.parse(await text(socket));
  } catch (error) {
    // Not there, or of a process that has ended: it starts, or is started again.
    if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') return { status: 'starting', detail: error.message };
    return { status: 'silent', detail: error.message };
  }
}

function countAndEnd() {
  const count = 1 + Number(read(failures) ?? 0);
  writeFileSync(failures, String(count));
  if (count < FAILURES) return;
  const pid = Number(read(join(dirname(path), 'pid')));
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  process.stdout.write(`killed after ${count} failed checks in a row\n`);
  rmSync(failures, { force: true });
  process.kill(pid, 'SIGKILL');
}

function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
