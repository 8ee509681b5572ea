import type { Cordon, NodeRecord } from '#contracts';
import type { Fleet } from '../../snapshot/fleet.js';
import type { Concern } from '../concern.js';
import { aboutNode, eachRecord, intentsOfEach } from '../each-record.js';
import type { Intent } from '../intent.js';

/** Ends a cordon at the time of day that its operator gave; one without an end stays until somebody uncordons. */
export const cordonEnd: Concern = {
  plan: ({ nodes, wallMs }) =>
    intentsOfEach(
      nodes.list,
      ({ key }) => ({ node: key }),
      ({ key, value: { cordon } }): Intent[] =>
        cordon === undefined || !isOver(cordon, wallMs)
          ? []
          : [
              {
                do: 'change-node',
                key,
                about: { node: key },
                reason: 'Its cordon has ended.',
                audit: { by: cordon.by, action: 'uncordon', detail: 'the end that was given with the cordon' },
                decide: (now) => {
                  if (now.cordon?.until !== cordon.until || now.cordon?.at !== cordon.at) return undefined;
                  const { cordon: _over, ...rest } = now;
                  return rest;
                },
              },
            ],
    ),
};

const isOver = ({ until }: Cordon, wallMs: number): boolean => until !== undefined && until <= wallMs;

/** A cordon that will end by itself. */
export interface EndingCordon {
  node: NodeRecord['name'];
  cordon: Cordon;
  /** 0: it is over, and goes with the next look. */
  leftMs: number;
}

/** Cordons to which an end was given. */
export const endingCordons = ({ nodes, wallMs }: Pick<Fleet, 'nodes' | 'wallMs'>): readonly EndingCordon[] =>
  eachRecord(nodes.list, aboutNode, ({ key, value: { cordon } }): EndingCordon[] =>
    cordon?.until === undefined
      ? []
      : [{ node: key, cordon, leftMs: isOver(cordon, wallMs) ? 0 : cordon.until - wallMs }],
  ).made;
