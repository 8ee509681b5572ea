import { systemClock } from '#bus';
import { MusterError, type ServiceName } from '#contracts';
import type { ServiceContext } from './context.js';
import { judgeHealth, serveHealth } from './watchdog/health-socket.js';
import { notify, notifyOrder } from './watchdog/notify-socket.js';
import { Watchdog } from './watchdog/watchdog.js';
import { startService, startWith, type NestModule, type RunningService, type WatchedService } from './start.js';

/** A service that was told to stop and does not is ended after this long, ms. */
const STOP_MS = 10_000;

/**
 * `main.ts` of a service: runs until SIGTERM or SIGINT. One clear line and exit code 1 where it cannot start, 2 where
 * it was given arguments: it takes none.
 */
export function serviceMain(service: ServiceName, module: NestModule): void {
  refuseArguments(service);
  runUntilSignal(service, () => startService(service, module));
}

/** The same for a service with a face of its own (HTTP). */
export function serviceMainWith(
  service: ServiceName,
  start: (context: ServiceContext) => Promise<RunningService>,
): void {
  refuseArguments(service);
  runUntilSignal(service, () => startWith(service, start));
}

function refuseArguments(service: ServiceName, given = process.argv.slice(2)): void {
  if (given.length === 0) return;
  process.stderr.write(
    `muster ${service}: "${given[0]}" is not understood: it takes no arguments, but MUSTER_CONFIG and other MUSTER_* from its environment\n`,
  );
  process.exit(2);
}

/**
 * Runs what `start` makes until a signal ends it, and tells systemd how it goes where a unit asks for that, and who asks at
 * the socket `MUSTER_HEALTH` where that is named. Every way to fail is one line on stderr.
 */
export function runUntilSignal(name: string, start: () => Promise<WatchedService>): void {
  const fail = (what: string, e: unknown): never => {
    process.stderr.write(`muster ${name}: ${what}${oneLine(e)}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', (e) => fail('ended by an unexpected error: ', e));
  process.on('unhandledRejection', (e) => fail('ended by an unexpected error: ', e));

  const starting = start();
  let watchdog: Watchdog | undefined;
  starting.then(
    (running) => {
      watchdog = watchdogOf(name, running);
      watchdog?.started();
      const path = process.env['MUSTER_HEALTH'];
      if (path !== undefined && path !== '')
        serveHealth(path, () => judgeHealth(running.stalled(), running.connected())).catch((e: unknown) => fail('', e));
    },
    (e: unknown) => fail('', e),
  );

  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    const told = watchdog?.stopping();
    systemClock.after(STOP_MS, () => fail('did not stop in time', ''), { background: true });
    starting
      .then((running) => running.close())
      .then(() => told)
      .then(
        () => process.exit(0),
        (e: unknown) => fail('stopped badly: ', e),
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function watchdogOf(name: string, running: WatchedService): Watchdog | undefined {
  const order = notifyOrder(process.env, process.pid);
  if (order === undefined) return undefined;
  return new Watchdog({
    order,
    clock: systemClock,
    notify: (...words) => notify(order.socket, ...words),
    stalled: () => running.stalled(),
    say: (line) => process.stderr.write(`muster ${name}: ${line}\n`),
  });
}

function oneLine(e: unknown): string {
  if (e === '') return '';
  if (e instanceof MusterError && e.code !== 'INTERNAL') return e.message;
  const text = e instanceof Error ? (e.stack ?? e.message) : String(e);
  return text.replaceAll(/\s*\n\s*/g, ' | ');
}
