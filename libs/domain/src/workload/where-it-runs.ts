import { isOpenIncident, type IncidentRecord, type NodeRecord, type Report, type RunningWorkload } from '#contracts';
import { rulesOut, type LastWord } from './last-word.js';

/** What must be known of every node before a workload may be started on one of them. */
export interface StartFacts {
  workload: string;
  /** Empty: it has no place yet. */
  target: string;
  /** Every node whose agent must have answered: see {@link mustAnswer}. */
  mustAnswer: readonly string[];
  /** Nodes for which {@link isUnproven} is so. They hold nothing but what they named last. */
  unproven: readonly string[];
  /** Reports that are fresh on the asker's clock, of any node whatever its standing: a fenced node that speaks counts. */
  fresh: readonly Pick<Report, 'node' | 'workloads' | 'bootId'>[];
  /** Of a node that does not answer; undefined: nothing is known of it. */
  lastWord: (node: string) => LastWord | undefined;
}

/** It runs on another node, or may soon: the registry is wrong, not the world. */
export interface SeenElsewhere {
  kind: 'elsewhere';
  node: string;
  /** Of that run; undefined: it is only being started there. */
  generation: number | undefined;
  /** It is only being started there: the start gate of that node may still refuse it. */
  starting?: {
    /** The target, while it has not said that it does not run it: its own gate may have let it through before it fell silent. */
    awaits?: string;
  };
}

export type StartCheck =
  /** It runs nowhere. A unit that is only being started on the target may be refused there for ever, until its start is given. */
  | { kind: 'clear' }
  /** It runs on the target already. */
  | { kind: 'there' }
  | SeenElsewhere
  /** It may be on these. */
  | ({ kind: 'unknown' } & Unheard);

/** Nodes on which a workload may run beside all that is seen, each in one of the lists. */
export interface Unheard {
  /** They do not say what they run, and their last word does not rule it out. */
  silent: string[];
  /** They named it last, and are not proven off. */
  named: string[];
  /** Their boot may start it without asking, and has not said what it runs; they are not proven off. */
  ungated: string[];
}

export const isAnyUnheard = ({ silent, named, ungated }: Unheard): boolean =>
  silent.length + named.length + ungated.length > 0;

/**
 * Where a workload may be running unknown to us: in service by its records, whatever workers and detector are doing;
 * who leaves service and has not been emptied yet; and whoever counts as off, or soon will, and speaks all the same: a living node that cannot say what it runs.
 */
export const mustAnswer = (
  n: Pick<NodeRecord, 'enrolled' | 'status' | 'state'>,
  isBeingFenced: boolean,
  speaks: boolean,
  hasWork: () => boolean,
): boolean =>
  n.enrolled && (isBeingFenced ? speaks : n.state === 'Discovered' && (n.status === 'Allocated' || hasWork()));

/**
 * Silent in an open incident, or gone without one, and not off by its record: what it said last to run there may go on.
 * Nobody fences who is cordoned, or out of service; nobody knows of such a one that it is off. What is assigned to it
 * waits for the proof in any case; a copy that it ran beside its own node's must, too. Once a proof counts, its record says
 * that it is off, unless it has come back since. Until then its off may have hit another node.
 */
export const isUnproven = (
  n: Pick<NodeRecord, 'enrolled' | 'confirmedOff' | 'state'>,
  incident: IncidentRecord | undefined,
  speaks: boolean,
): boolean => {
  const isOpen = incident !== undefined && isOpenIncident(incident);
  return n.enrolled && n.confirmedOff === undefined && !speaks && (isOpen || n.state === 'Disappeared');
};

/**
 * - Seen running elsewhere is stronger than everything else, and seen on the target than being started elsewhere.
 * - A node without an answer holds the start, unless its last word rules the workload out.
 * - A node that is not proven off holds it where its last word named it.
 * - The target has to answer in any case, since its start gate must be able to ask.
 */
export function checkStart(f: StartFacts): StartCheck {
  const running = new Map(
    f.fresh.flatMap(({ node, workloads }) => {
      const run = workloads?.find((w) => w.name === f.workload);
      return run === undefined ? [] : [[node, run] as const];
    }),
  );
  const isStarting = (node: string): boolean => running.get(node)?.starting === true;
  const others = [...running.keys()].filter((n) => n !== f.target).sort();
  const runsOn = others.find((n) => !isStarting(n));
  if (runsOn !== undefined) return { kind: 'elsewhere', node: runsOn, generation: running.get(runsOn)?.generation };
  const runsThere = running.has(f.target);
  const [startsOn] = others;
  if (startsOn !== undefined && !(runsThere && !isStarting(f.target))) {
    const saysNo = !runsThere && answeredIn(f).has(f.target);
    const starting = saysNo || f.target === '' ? {} : { awaits: f.target };
    return { kind: 'elsewhere', node: startsOn, generation: undefined, starting };
  }
  // A unit that is only being started there says nothing of the others, and is no run: its gate may have refused it.
  if (runsThere && !isStarting(f.target)) return { kind: 'there' };
  const unheard = unheardOf(f);
  return isAnyUnheard(unheard) ? { kind: 'unknown', ...unheard } : { kind: 'clear' };
}

/** Each of them has to speak, or to be ruled out, before it is started anew. */
export function unheardOf(f: StartFacts): Unheard {
  const answered = answeredIn(f);
  const isRuledOut = (node: string): boolean => {
    const word = node === f.target ? undefined : f.lastWord(node);
    return word !== undefined && rulesOut(word, f.workload);
  };
  // A unit that was only at its gate is refused there: the work is assigned to another node.
  const mayGoOn = (w: RunningWorkload): boolean => w.name === f.workload && !(w.starting === true && w.gated === true);
  const others = f.unproven.filter((n) => n !== f.target);
  const named = others.filter((n) => f.lastWord(n)?.workloads?.some(mayGoOn));
  const ungated = others.filter((n) => startsByItself(f.lastWord(n), f.workload));
  const isMute = (n: string): boolean =>
    !answered.has(n) && !isRuledOut(n) && !named.includes(n) && !ungated.includes(n);
  return { silent: f.mustAnswer.filter(isMute).sort(), named: named.sort(), ungated: ungated.sort() };
}

const startsByItself = (word: LastWord | undefined, workload: string): boolean =>
  word !== undefined && word.workloads === undefined && word.mayStartByItself(workload);

const answeredIn = ({ fresh }: StartFacts): ReadonlySet<string> =>
  new Set(fresh.filter((r) => r.workloads !== undefined).map((r) => r.node));
