import type { MessageLog, PulledMessage } from '../../../libs/bus/src/ports/message-log.js';
import type { Wire } from '../../../libs/bus/src/ports/wire.js';
import type { Life } from './life.js';

/** A wire whose user may die at each call. */
export const mortalWire = (life: Life, wire: Wire): Wire => ({
  get connected() {
    return wire.connected;
  },
  get closed() {
    return wire.closed;
  },
  get serverInfo() {
    return wire.serverInfo;
  },
  onStatus: (fn) => wire.onStatus(fn),
  request: (subject, text, o) => life.call(`wire.request ${subject}`, () => wire.request(subject, text, o)),
  publish: (subject, text) => life.act(`wire.publish ${subject}`, () => wire.publish(subject, text)),
  subscribe: (subject, o) => {
    const subscription = life.open(`wire.subscribe ${subject}`, () =>
      wire.subscribe(subject, {
        ...o,
        onMessage: (m) =>
          o.onMessage({ ...m, respond: (text) => life.act(`wire.respond ${m.subject}`, () => m.respond(text)) }),
      }),
    );
    return {
      close: () => life.act(`wire.unsubscribe ${subject}`, () => subscription?.close()),
      drain: () => life.call(`wire.drain ${subject}`, async () => subscription?.drain()),
    };
  },
  flush: () => life.call('wire.flush', () => wire.flush()),
  close: () => life.call('wire.close', () => wire.close()),
});

/** A log whose user may die at each call. */
export const mortalLog = (life: Life, log: MessageLog): MessageLog => {
  const call = <T>(what: string, effect: () => Promise<T>): Promise<T> => life.call(`log.${what}`, effect);
  const pulled = (m: PulledMessage): PulledMessage => ({
    ...m,
    ack: () => life.act(`log.ack ${m.subject}`, () => m.ack()),
    nak: (delayMs) => life.act(`log.nak ${m.subject}`, () => m.nak(delayMs)),
    working: () => life.act(`log.working ${m.subject}`, () => m.working()),
    term: () => life.act(`log.term ${m.subject}`, () => m.term()),
  });
  return {
    append: (subject, payload, o) => call(`append ${subject}`, () => log.append(subject, payload, o)),
    last: (stream, subject) => call(`last ${subject}`, () => log.last(stream, subject)),
    next: (stream, subject, seq) => call(`next ${subject}`, () => log.next(stream, subject, seq)),
    hasFrom: (stream, seq) => call(`hasFrom ${stream}`, () => log.hasFrom(stream, seq)),
    info: (stream, o) => call(`info ${stream}`, () => log.info(stream, o)),
    read: async (stream, o) => {
      const session = await call(`read ${stream}`, () => log.read(stream, o));
      return { close: () => life.act(`log.close ${stream}`, () => session.close()) };
    },
    pull: async (stream, durable, o) => {
      const m = await call(`pull ${durable}`, () => log.pull(stream, durable, o));
      return m && pulled(m);
    },
    createStream: (config) => call(`createStream ${config.name}`, () => log.createStream(config)),
    createConsumer: (stream, config) =>
      call(`createConsumer ${config.durable_name}`, () => log.createConsumer(stream, config)),
    removeConsumer: (stream, durable) => call(`removeConsumer ${durable}`, () => log.removeConsumer(stream, durable)),
    purge: (stream, o) => call(`purge ${o.subject}`, () => log.purge(stream, o)),
  };
};
