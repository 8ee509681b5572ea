import { execa } from 'execa';
import { MusterError } from '#contracts';

/** A manager that takes no word within this time is not waited for, ms. */
const TELL_MS = 5_000;

/** What systemd has asked of this process. */
export interface NotifyOrder {
  /** Where it listens. */
  socket: string;
  /** ms within which it must hear from us again, else it kills the process; undefined: it does not ask for it. */
  watchdogMs?: number;
}

/** By the environment of a unit of `Type=notify`; undefined: nobody asked. */
export function notifyOrder(env: NodeJS.ProcessEnv, pid: number): NotifyOrder | undefined {
  const socket = env['NOTIFY_SOCKET'];
  if (!socket) return undefined;
  const usec = Number(env['WATCHDOG_USEC'] ?? '');
  // The environment is inherited: it is of whom it names.
  const ours = env['WATCHDOG_PID'] === undefined || env['WATCHDOG_PID'] === String(pid);
  return ours && Number.isSafeInteger(usec) && usec > 0 ? { socket, watchdogMs: usec / 1000 } : { socket };
}

/**
 * Tells the manager, with arguments of systemd-notify, by systemd's own program: Node has no datagram sockets of the unix kind. The unit says
 * `NotifyAccess=all`, since the word comes from a child.
 * @throws MusterError COMMAND_FAILED
 */
export async function notify(socket: string, ...words: string[]): Promise<void> {
  try {
    await execa('systemd-notify', words, { timeout: TELL_MS, env: { NOTIFY_SOCKET: socket } });
  } catch (cause) {
    const why = (cause as Error).message.replaceAll(/\s*\n\s*/g, ' | ');
    throw new MusterError('COMMAND_FAILED', `systemd was not told "${words.join(' ')}": ${why}`, {}, { cause });
  }
}
