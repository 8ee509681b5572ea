import { phaseText, stepText, type GateResult, type IncidentRecord, type StormView } from '#contracts';

/**
 * The whole incident as lines that each begin with the node: readable, and greppable in a pipe. What matters comes
 * first: gates that let it pass stand at the end.
 */
export function story(i: IncidentRecord & { storms?: StormView[] }): string[] {
  const since = (at: number): string => `+${((at - i.openedAt) / 1000).toFixed(2)} s`;
  const gateLine = (g: GateResult): string => `gate: ${g.gate} ${g.pass ? 'pass' : 'stop'}: ${g.detail}`;
  const lines = [
    `incident: ${i.id}`,
    `phase: ${phaseText(i)}`,
    `cause: ${i.cause}${i.by === undefined ? '' : ` by ${i.by}`}: ${i.reason}`,
    `opened: ${new Date(i.openedAt).toISOString()}`,
    ...(i.storms ?? []).map((s) => `storm: ${s.detail}`),
    ...i.gates.filter((g) => !g.pass).map(gateLine),
    ...i.commands.map((c) => {
      const outcome = c.result === undefined ? 'no result yet' : `${c.result.power ?? (c.result.ok ? 'ok' : 'failed')}`;
      const detail = c.result?.detail === undefined ? '' : `: ${c.result.detail}`;
      return `command: ${since(c.at)} ${c.verb} ${c.device} by ${c.fencer} (token ${c.epoch}): ${outcome}${detail}`;
    }),
    ...(i.proof === undefined ? [] : [`proof: ${since(i.proof.at)} ${i.proof.kind}${by(i.proof)}`]),
    ...i.recovery.map((r) => `recovery: ${r.workload} → ${r.to ?? 'nowhere yet'}: ${r.state}${text(r.detail)}`),
    ...i.steps.map((s) => `step: ${since(s.at)} ${stepText(s)}`),
    ...i.gates.filter((g) => g.pass).map(gateLine),
  ];
  return lines.map((line) => `${i.node}: ${line}`);
}

const text = (detail: string | undefined): string => (detail === undefined || detail === '' ? '' : `: ${detail}`);
const by = (proof: { by?: string; reason?: string }): string =>
  proof.by === undefined ? '' : ` by ${proof.by}${text(proof.reason)}`;
