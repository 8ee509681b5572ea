import type { LoggerService } from '@nestjs/common';
import { pino, type Logger } from 'pino';
import type { ServiceConfig } from './config.js';

/** JSON lines on stderr. What could be a secret is cut out by name, at the top and one level down. */
export function createLogger(service: string, config: Pick<ServiceConfig, 'logLevel' | 'instance'>): Logger {
  const names = ['password', 'seed', 'token', 'secret', 'authorization'];
  return pino(
    {
      level: config.logLevel,
      base: { service, instance: config.instance },
      redact: { paths: [...names, ...names.map((n) => `*.${n}`)], censor: '(hidden)' },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}

/** Nest's own messages, at debug unless they are a warning or worse. */
export class NestLog implements LoggerService {
  constructor(private readonly pino: Logger) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  private write(level: 'trace' | 'debug' | 'warn' | 'error' | 'fatal', message: unknown, rest: unknown[]): void {
    const context = rest.findLast((r) => typeof r === 'string');
    if (message instanceof Error) this.pino[level]({ err: message, context }, message.message);
    else this.pino[level]({ context }, typeof message === 'string' ? message : JSON.stringify(message));
  }
}
