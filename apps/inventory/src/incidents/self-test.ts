import type { IncidentRecord, RpcAnswer } from '#contracts';

type DevicePower = RpcAnswer<'fencer.power.read'>['devices'][number];

/** A node's incident, as far as it says what its devices answer to the one who fences it. */
export type Fencing = Pick<IncidentRecord, 'id' | 'phase' | 'commands'>;

/** Why a node's power devices do not pass their test; `busy`: its fencing keeps others from them, and may tell soon. */
export interface FailedTest {
  why: string;
  busy: boolean;
}

/**
 * Each device must answer now. One of a node that is being fenced is asked by nobody but its fencer: there a command of the
 * fencing is the test that ended after the test began, and was answered. Where none did, the device has not passed.
 *
 * @param before the node's incident when the test began
 * @param now the same after the devices were asked
 * @returns undefined: they pass
 */
export function failedTest(
  devices: readonly DevicePower[],
  before: Fencing | undefined,
  now: Fencing | undefined,
): FailedTest | undefined {
  if (devices.length === 0) return { why: 'none answered', busy: false };
  const bad = devices.filter((d) => d.power === 'unknown' && !(isBusy(d) && hasAnswered(d.id, before, now)));
  // Waiting is of no use where one of them does not answer.
  const worst = bad.find((d) => !isBusy(d)) ?? bad[0];
  if (worst === undefined) return undefined;
  return { why: `${worst.id}: ${worst.code ?? worst.detail ?? 'unknown'}`, busy: isBusy(worst) };
}

const isBusy = (d: DevicePower): boolean => d.code === 'NODE_BUSY';

/** By the last of its commands that ended meanwhile. Times are not compared: they are of another machine's clock. */
function hasAnswered(device: string, before: Fencing | undefined, now: Fencing | undefined): boolean {
  if (now?.phase !== 'fencing') return false;
  const ended = before?.id === now.id ? before.commands.filter((c) => c.result !== undefined).map((c) => c.n) : [];
  const last = now.commands.findLast((c) => c.device === device && c.result !== undefined && !ended.includes(c.n));
  return last?.result?.ok === true && last.result.power !== 'unknown';
}
