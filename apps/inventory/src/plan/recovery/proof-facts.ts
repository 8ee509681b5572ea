import type { IncidentRecord } from '#contracts';
import {
  decideCollateral,
  fellSilent,
  type CollateralFacts,
  type CollateralStep,
  type SilentNode,
} from '../../power/collateral.js';
import { decideDrill, type DrillStep } from '../../power/drill.js';
import { hasOtherDevices } from '../../power/proof-doubt.js';
import { silentNodes, SPEAKS_MS } from '../../power/silent-nodes.js';
import type { AgeMs } from '../../snapshot/ages.js';
import type { Fleet } from '../../snapshot/fleet.js';
import { perFleet } from '../../snapshot/per-fleet.js';
import { aboutNode, eachRecord, type Decided } from '../each-record.js';
import { wordOf } from '../power/contradicted.js';

/**
 * What is to become of the incident's proof.
 * @param provenFor since this process saw the proof
 */
export const collateralStep = (i: IncidentRecord, fleet: Fleet, provenFor: AgeMs): CollateralStep =>
  decideCollateral(i, factsOf(i, fleet, provenFor));

/** What the drill has shown. */
export function drillStep(i: IncidentRecord, fleet: Fleet, provenFor: AgeMs): DrillStep {
  const facts = factsOf(i, fleet, provenFor);
  return decideDrill(i, {
    provenForMs: provenFor,
    sighted: facts.sighted,
    offAgoMs: facts.offsAgoMs[0],
    unheardMs: fleet.heard(i.node)?.ago,
    fell: fellSilent(i, facts),
    edited: hasOtherDevices(i, facts.node),
  });
}

function factsOf(i: IncidentRecord, fleet: Fleet, provenFor: AgeMs): CollateralFacts {
  const { nodes, detector } = fleet;
  return {
    provenForMs: provenFor,
    node: nodes.get(i.node)?.value,
    sighted: detector.sighted && nodes.live,
    silent: silent(fleet).made.filter((s) => s.node !== i.node),
    offsAgoMs: fleet.offsAgo(i),
    heardIn: (name) => {
      const last = wordOf(fleet, name);
      return last !== undefined && last.agoMs < SPEAKS_MS ? last.bootId : undefined;
    },
  };
}

/** Nodes that are not heard. Of one that could not be judged its own silence counts, as of one that nobody judges. */
export const silent = perFleet((fleet: Fleet): Decided<SilentNode> => {
  const { nodes, detector } = fleet;
  const { made, failed } = eachRecord(nodes.list, aboutNode, ({ value }) =>
    silentNodes([value], detector.current, (name) => wordOf(fleet, name)),
  );
  return { made: [...made, ...failed.flatMap((f) => ownSilence(fleet, f.about['node'] ?? ''))], failed };
});

function ownSilence(fleet: Fleet, node: string): SilentNode[] {
  const last = wordOf(fleet, node);
  if (last === undefined) return [{ node }];
  return last.agoMs > SPEAKS_MS ? [{ node, bootId: last.bootId, unheardMs: last.agoMs }] : [];
}
