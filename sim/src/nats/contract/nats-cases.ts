import { bucketCases } from './bucket-cases.js';
import { caseGroup, type ContractCase } from './case-group.js';
import { consumerCases } from './consumer-cases.js';
import { ContractBox } from './contract-box.js';
import type { ContractWorld } from './contract-world.js';
import { coreCases } from './core-cases.js';
import { crashCases } from './crash-cases.js';
import { idCases } from './id-cases.js';
import { readingCases } from './reading-cases.js';
import { streamCases } from './stream-cases.js';

/** All cases, to be run in one world, of which at most one is run: what they share is of that one alone. */
export interface ContractCases {
  cases: ContractCase[];
  /** @param name of its streams and clients, which no other in this world has */
  prepare(world: ContractWorld, name: string): Promise<void>;
  end(): Promise<void>;
}

/**
 * What the product rests on, held against real servers and against the played one: it must not lie. Where the real ones
 * differ from each other, the case says so.
 */
export function natsCases(): ContractCases {
  const box = new ContractBox();
  const cases: ContractCase[] = [];
  bucketCases(caseGroup('a bucket', cases), box);
  streamCases(caseGroup('a stream', cases), box);
  idCases(caseGroup('an id', cases), box);
  crashCases(caseGroup('a crash that loses the newest', cases), box);
  readingCases(caseGroup('a reading', cases), box);
  consumerCases(caseGroup('a durable consumer', cases), box);
  coreCases(caseGroup('core NATS', cases), box);
  return { cases, prepare: (world, name) => box.prepare(world, name), end: () => box.end() };
}
