import type { IncidentRecord } from '#contracts';
import { note } from '#domain/incident/steps.js';
import { collateralText, type CollateralStep } from '../../power/collateral.js';
import type { DrillStep } from '../../power/drill.js';
import { fencedAnew } from '../../power/void-proof.js';
import { conducted, type Conducting } from '../conducted.js';

export type Judged = Extract<DrillStep, { do: 'judged' }>;
/** News of what the off may have hit: it stands in the record. */
export type CollateralNews = Extract<CollateralStep, { do: 'hold' | 'anew' | 'clear' }>;
/** May have been hit. */
export type CollateralNodes = Extract<CollateralStep, { do: 'hold' }>['nodes'];

export type ProofStep =
  /** It counts: what ran there is recovered. */
  | { do: 'begin' }
  | { do: 'judge'; drill: Judged }
  | { do: 'note'; collateral: CollateralNews }
  /** `for`: its drill, or the word of a device that is not proven. `sighted`: a moment longer; else until a detector sees the fleet. */
  | { do: 'wait'; for: 'drill' | 'collateral'; sighted: boolean }
  /** A new boot of it has just spoken: by the next verdict it is on again. */
  | { do: 'await-verdict' }
  /** These may have been hit, as stands in the record. */
  | { do: 'held'; nodes: CollateralNodes };

export interface ProofFacts {
  /** Nothing is assigned to the node, and that is known. */
  isEmpty: boolean;
  isComingBack: () => boolean;
  drill: () => DrillStep;
  collateral: () => CollateralStep;
}

/** What becomes of a proof of off. The word of a device that is not proven counts later, and not where the off may have hit another node. */
export function proofStep(i: IncidentRecord, f: ProofFacts): ProofStep {
  const step = countedStep(i, f);
  return step.do === 'begin' && f.isComingBack() ? { do: 'await-verdict' } : step;
}

function countedStep(i: IncidentRecord, f: ProofFacts): ProofStep {
  if (i.drill !== undefined && i.drill.result === undefined) {
    const drill = f.drill();
    return drill.do === 'wait' ? { ...drill, for: 'drill' } : { do: 'judge', drill };
  }
  // Nothing is recovered by a drill: what it has switched off, whosever it is, is to be switched on again.
  if (i.drill !== undefined && f.isEmpty) return { do: 'begin' };
  const collateral = f.collateral();
  if (collateral.do === 'counts') return { do: 'begin' };
  if (collateral.do === 'wait') return { ...collateral, for: 'collateral' };
  if (collateral.do === 'hold' && !collateral.changed) return { do: 'held', nodes: collateral.nodes };
  return { do: 'note', collateral };
}

/** The incident with the news; undefined: they do not matter any more. */
export function collateralNoted(now: IncidentRecord, news: CollateralNews, by: Conducting): IncidentRecord | undefined {
  if (now.phase !== 'fenced' || now.proof?.kind === 'manual') return undefined;
  return conducted(now, by, withNews(now, news, by.fleet.wallMs));
}

function withNews(now: IncidentRecord, news: CollateralNews, at: number): IncidentRecord | undefined {
  if (news.do === 'anew') return fencedAnew(now, news.why, at);
  if (news.do === 'hold') {
    const held = { ...now, collateral: { at, nodes: news.nodes } };
    return note(held, collateralText(held), at);
  }
  const { collateral: _over, ...rest } = now;
  return note(rest, `${news.spoke.join(', ')} spoke in the old boot: the off was not theirs.`, at);
}

/** The incident with what its drill has shown; undefined: it is no drill that waits for that. */
export function drillJudged(now: IncidentRecord, { ok, detail }: Judged, by: Conducting): IncidentRecord | undefined {
  if (now.phase !== 'fenced' || now.drill === undefined) return undefined;
  const at = by.fleet.wallMs;
  return conducted(now, by, {
    ...note(now, `Drill ${ok ? 'passed' : 'failed'}: ${detail}`, at),
    drill: { ...now.drill, result: { ok, at, detail } },
  });
}
