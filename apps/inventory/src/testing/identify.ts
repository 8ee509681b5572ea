import { rpcSubject, type Bus, type Closable } from '#bus';
import { identityBasis, MusterError, type NodeRecord, type RpcAnswer, type RpcRequest } from '#contracts';

type Verb = 'fencer.power.identify';
export type Identified = RpcAnswer<Verb>['devices'][number];

/** Devices that say nothing of whose they are: what was found before counts. */
export const untold = (node: NodeRecord): Identified[] =>
  node.powerLevels.flat().map((d) => ({ id: d.id, basis: identityBasis(d), code: 'BMC_REFUSED' }));

/** Answers as a fencer does that is asked whose the power devices of a node are: without an answer nobody is ordered off. */
export function answerIdentify(
  bus: Bus,
  of: (node: NodeRecord) => Promise<Identified[]> | Identified[] = untold,
): Closable {
  return bus.answer<{ data: RpcRequest<Verb> }, { response: RpcAnswer<Verb> }>(
    rpcSubject('fencer.power.identify'),
    async ({ data }) => {
      const node = (await bus.bucket<NodeRecord>('nodes').get(data.node))?.value;
      if (node === undefined) throw new MusterError('NODE_UNKNOWN', `there is no node ${data.node}`);
      return { response: { devices: await of(node) } };
    },
  );
}
