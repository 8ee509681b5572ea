import { isOpenIncident, type IncidentPhase, type IncidentRecord } from '#contracts';

/** By which service a change of phase is written, each by compare-and-set on the one record. */
export type PhaseWriter = 'inventory' | 'fencer';

/** A change of phase that may be. */
export interface PhaseChange {
  from: IncidentPhase;
  to: IncidentPhase;
  by: readonly PhaseWriter[];
  /** Only while no `off` was ordered: after it the ways out are a proof of off, a failure or the node's survival. */
  uncommanded?: true;
}

const inventory: readonly PhaseWriter[] = ['inventory'];
const fencer: readonly PhaseWriter[] = ['fencer'];

/**
 * All changes of an incident's phase, and who may write each. What is not in it cannot be written. A new record begins as
 * `investigating`; an order to a node without an incident is shown as one that is `closed`, and not stored so. A record that
 * stands in `open` is one of an earlier version: its ways out are for that.
 */
export const phaseChanges: readonly PhaseChange[] = [
  { from: 'open', to: 'investigating', by: inventory },
  { from: 'open', to: 'suppressed', by: inventory },
  { from: 'open', to: 'cancelled', by: inventory, uncommanded: true },
  { from: 'open', to: 'fenced', by: inventory },

  { from: 'investigating', to: 'fencing', by: inventory },
  { from: 'investigating', to: 'suppressed', by: inventory },
  { from: 'investigating', to: 'cancelled', by: inventory, uncommanded: true },
  { from: 'investigating', to: 'fenced', by: inventory },

  { from: 'suppressed', to: 'investigating', by: inventory },
  { from: 'suppressed', to: 'fencing', by: inventory },
  { from: 'suppressed', to: 'cancelled', by: inventory, uncommanded: true },
  { from: 'suppressed', to: 'fenced', by: inventory },

  // Read back by the fencer, or confirmed by an operator.
  { from: 'fencing', to: 'fenced', by: ['inventory', 'fencer'] },
  { from: 'fencing', to: 'failed', by: fencer },
  { from: 'fencing', to: 'survived', by: inventory },
  { from: 'fencing', to: 'suppressed', by: inventory, uncommanded: true },
  { from: 'fencing', to: 'cancelled', by: inventory, uncommanded: true },

  { from: 'failed', to: 'fencing', by: inventory },
  { from: 'failed', to: 'fenced', by: inventory },
  { from: 'failed', to: 'survived', by: inventory },
  { from: 'failed', to: 'suppressed', by: inventory, uncommanded: true },
  { from: 'failed', to: 'cancelled', by: inventory, uncommanded: true },

  // Back to failed: the node contradicts its proof of off, which is void then.
  { from: 'fenced', to: 'recovering', by: inventory },
  { from: 'fenced', to: 'failed', by: inventory },
  { from: 'recovering', to: 'recovered', by: inventory },
  { from: 'recovering', to: 'failed', by: inventory },
  { from: 'recovered', to: 'closed', by: inventory },
  { from: 'recovered', to: 'failed', by: inventory },
];

type Standing = Pick<IncidentRecord, 'phase' | 'commands'>;

/** A command that can change the node's power was (or may have been) given: intent counts, not its outcome. */
export const wasCommanded = (i: Pick<IncidentRecord, 'commands'>): boolean => i.commands.some((c) => c.verb === 'off');

/** @param by @default 'inventory' */
export const mayGo = (i: Standing, to: IncidentPhase, by: PhaseWriter = 'inventory'): boolean =>
  phaseChanges.some(
    (c) => c.from === i.phase && c.to === to && c.by.includes(by) && (c.uncommanded !== true || !wasCommanded(i)),
  );

/** Before the first command anything may end it; after it only a proof of off, a failure or the node's survival. */
export const mayCancel = (i: Standing): boolean => mayGo(i, 'cancelled');

/** Phases in which nothing is under way against the node or its workloads any more: its power is free for orders. */
export const quietPhases: readonly IncidentPhase[] = ['recovered', 'closed', 'survived', 'cancelled'];

/** Its node was proven off, or confirmed down, and the incident goes on from there. */
export const isAfterOff = (i: Pick<IncidentRecord, 'phase'>): boolean =>
  i.phase === 'fenced' || i.phase === 'recovering' || i.phase === 'recovered';

/** Nothing was asked of a fencer since it was opened, or since its gate stopped it. */
export const isBeforeFencing = (i: Pick<IncidentRecord, 'phase'>): boolean =>
  i.phase === 'open' || i.phase === 'investigating' || i.phase === 'suppressed';

/** Its proof of off was contradicted, and what came of that is not settled: nothing more of it is started. */
export const isVoid = (i: Pick<IncidentRecord, 'phase' | 'contradiction'>): boolean =>
  i.contradiction !== undefined && isOpenIncident(i) && !isAfterOff(i);
