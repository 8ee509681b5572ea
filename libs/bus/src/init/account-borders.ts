import type { Export, Import } from '@nats-io/jwt';
import { Subjects } from '#contracts';
import { OwnApi, StoreApi } from '../store-names/store-api.js';
import { matches } from '../streams/subject-filter.js';
import { ApartServices, exchangeOf, type ApartService } from '../users/permissions.js';

/** `store`: the account with the streams, of inventory, of agents and of programs. */
export type Holder = 'store' | ApartService;

/** What an account lets others have, and what it has of others. */
export interface Border {
  exports: Export[];
  imports: Import[];
}

type Kind = 'service' | 'stream';
interface Passage {
  subject: string;
  kind: Kind;
  from: Holder;
  to: Holder;
}

/**
 * Exports and imports of every account, from what each service does. Of a request ("service") the server keeps the reply
 * subject within the account that asked: told any other, it answers nobody. A "stream" goes one way.
 * @param accounts public keys
 */
export function bordersOf(accounts: Record<Holder, string>): Record<Holder, Border> {
  const passages = ApartServices.flatMap(passagesOf);
  const border = (holder: Holder): Border => ({
    exports: (['service', 'stream'] as const).flatMap((kind) =>
      widest(passages.filter((p) => p.from === holder && p.kind === kind).map((p) => p.subject)).map((subject) =>
        shared(subject, kind),
      ),
    ),
    imports: passages
      .filter((p) => p.to === holder)
      .map(({ subject, kind, from }) => ({
        ...shared(subject, kind),
        account: accounts[from],
        ...(subject.startsWith(`${StoreApi}.`) && { local_subject: subject.replace(StoreApi, OwnApi) }),
      })),
  });
  return Object.fromEntries((['store', ...ApartServices] as const).map((holder) => [holder, border(holder)])) as Record<
    Holder,
    Border
  >;
}

function passagesOf(service: ApartService): Passage[] {
  const { tells, listens, answers, asks } = exchangeOf(service);
  return [
    ...tells.map((subject): Passage => ({ subject, kind: 'stream', from: service, to: 'store' })),
    ...answers.map((subject): Passage => ({ subject, kind: 'service', from: service, to: 'store' })),
    ...listens.map((subject): Passage => ({ subject, kind: 'stream', from: tellerOf(subject), to: service })),
    ...asks
      .map((subject): Passage => ({
        subject: subject.startsWith(`${OwnApi}.`) ? subject.replace(OwnApi, StoreApi) : subject,
        kind: 'service',
        from: answererOf(subject),
        to: service,
      }))
      .filter((p) => p.from !== service),
  ];
}

const tellerOf = (subject: string): Holder =>
  ApartServices.find((service) => exchangeOf(service).tells.includes(subject)) ?? 'store';

const answererOf = (subject: string): Holder =>
  ApartServices.find((service) => subject.startsWith(Subjects.rpc(service, ''))) ?? 'store';

const shared = (subject: string, type: Kind): Export & Import => ({ name: subject, subject, type }) as Export & Import;

/** The server refuses an account of which one export holds another. */
const widest = (subjects: readonly string[]): string[] => {
  const all = [...new Set(subjects)];
  return all.filter((subject) => !all.some((other) => other !== subject && matches(other, subject)));
};
