import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { MusterError, parseDatagramKeys } from '#contracts';
import type { LabFolder } from '../folder.js';
import { AGENT_PORT } from '../host-image.js';
import { knownHosts, type HostPlan, type LabPlan } from '../plan.js';
import { PYTHON } from '../python.js';
import { run } from '../run.js';
import { MischiefKinds, mischiefOrder, type MischiefKind } from './mischief-plan.js';

export interface MischiefAnswer {
  kind: MischiefKind;
  sent: number;
  /** Bytes of each. */
  sizes: number[];
  /** Of those that were sent: so many had been seen at the switch before. */
  captured: number;
  /** Datagrams that the agent sent back to where these came from; repeated probes are answered, the rest never is. */
  answered: number;
}

/**
 * Sends to the host's agent over the management network, from the control host. FORBIDDEN in loopback mode, BAD_REQUEST
 * for another kind, NOT_FOUND where there was nothing to capture for 15 s.
 */
export async function sendMischief(
  folder: LabFolder,
  plan: LabPlan,
  host: HostPlan,
  kind: string,
  count: number,
): Promise<MischiefAnswer> {
  const control = plan.controls[0]?.netns;
  if (plan.namespaces === undefined || control === undefined || host.ports === undefined)
    throw new MusterError(
      'FORBIDDEN',
      'datagram needs root, netns mode and a control host of the lab: the loopback has no switch to listen at',
    );
  const known = MischiefKinds.find((k) => k === kind);
  if (known === undefined)
    throw new MusterError('BAD_REQUEST', `no datagrams are "${kind}"; there are ${MischiefKinds.join(', ')}`);
  const keys = parseDatagramKeys(readFileSync(folder.at('etc', 'keys', 'datagram.key'), 'utf8'));
  const order = mischiefOrder(known, {
    to: host.node,
    from: (knownHosts(plan).find((h) => h !== host) ?? host).node,
    keys: { cluster: plan.cluster, keys },
    count,
    random: randomBytes,
  });
  const where = [plan.namespaces.sw, host.ports.management, control, host.networks.management];
  const said = await run(PYTHON, ['-I', '-S', folder.at('lib', 'mischief.py'), ...where, String(AGENT_PORT)], {
    input: `${JSON.stringify(order)}\n`,
    timeoutMs: 60_000,
  });
  const done = JSON.parse(said) as Omit<MischiefAnswer, 'kind'>;
  if (done.sent === 0)
    throw new MusterError(
      'NOT_FOUND',
      `no agent has sent anything to or from ${host.name} for 15 s: nothing to repeat`,
    );
  return { kind: known, ...done };
}
