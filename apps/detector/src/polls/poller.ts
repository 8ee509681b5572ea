import { MusterError, POLL_LIMIT_MS, Subjects, type PollRequest } from '#contracts';
import type { PollOrder } from './poll-book.js';

/** How a request goes out; rejects without an answer in time. */
export type Ask = (subject: string, request: PollRequest, o: { timeoutMs: number }) => Promise<unknown>;

/** Asks agents to look at suspects that they do not watch. Never waits for one before it asks the next. */
export class Poller {
  constructor(
    private readonly ask: Ask,
    /** Something came back, whatever it is; undefined: nothing in time. */
    private readonly ended: (order: PollOrder, said: unknown) => void,
    private readonly log: { debug(fields: object, message: string): void },
  ) {}

  send(orders: readonly PollOrder[], requestFor: (targets: readonly string[]) => PollRequest): void {
    for (const order of orders) void this.one(order, requestFor(order.targets));
  }

  private async one(order: PollOrder, request: PollRequest): Promise<void> {
    const { observer, targets } = order;
    let said: unknown;
    try {
      said = await this.ask(Subjects.poll(observer), request, { timeoutMs: POLL_LIMIT_MS });
    } catch (e) {
      this.log.debug({ observer, targets, code: MusterError.from(e).code }, 'poll not answered');
    }
    this.ended(order, said);
  }
}
