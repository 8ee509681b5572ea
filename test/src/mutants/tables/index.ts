import type { AreaMutant, Mutant } from '../mutant.js';
import { admit } from './admit.js';
import { callers } from './callers.js';
import { agent } from './detect/agent.js';
import { contracts } from './detect/contracts.js';
import { detector } from './detect/detector.js';
import { lifeObservers } from './detect/life-observers.js';
import { links } from './detect/links.js';
import { observers } from './detect/observers.js';
import { verdicts } from './detect/verdicts.js';
import { differences } from './differences.js';
import { fence } from './fence.js';
import { guard } from './guard.js';
import { keys } from './keys.js';
import { lease } from './lease.js';
import { life } from './life.js';
import { recover } from './recover.js';
import { recovery } from './recovery.js';
import { returns } from './return.js';
import { revocations } from './revocations.js';
import { secrets } from './secrets.js';
import { services } from './services.js';
import { startReasons } from './start-reasons.js';
import { store } from './store.js';
import { storm } from './storm.js';
import { strangers } from './strangers.js';

/** Area → its safety lines. A line that guards one of the "never"s has its mutant: a test that cannot fail is a defect. */
const tables: Record<string, readonly Mutant[]> = {
  admit,
  detect: [...verdicts, ...observers, ...detector, ...links, ...agent, ...contracts, ...lifeObservers],
  fence: [...fence, ...life, ...guard],
  keys: [...keys, ...revocations, ...strangers, ...differences, ...callers],
  lease,
  recover: [...recover, ...startReasons, ...recovery],
  return: returns,
  secrets,
  services,
  store,
  storm,
};

/** How many an area has at least. It is raised with each mutant that comes, and never lowered. */
export const FLOORS: Record<string, number> = {
  admit: 81,
  detect: 177,
  fence: 294,
  keys: 95,
  lease: 59,
  recover: 266,
  return: 132,
  secrets: 49,
  services: 20,
  store: 52,
  storm: 68,
};

export const mutants: readonly AreaMutant[] = Object.entries(tables).flatMap(([area, list]) =>
  list.map((m) => ({ area, ...m })),
);

/** Those that `npm run sim -- NAME --json` plays. */
export const SIMS: readonly string[] = ['detect', 'hands', 'fleet'];
