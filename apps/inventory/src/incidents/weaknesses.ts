import type { Weakness } from '#contracts';

export interface WeaknessFacts {
  /** M: enrolled, not cordoned, not confirmed off. */
  members: number;
  /** `host:port` that the detector asks where two members are left; '' for none. */
  witness: string;
}

/** What will keep the dead from being fenced, though nothing is wrong now. */
export function weaknesses({ members, witness }: WeaknessFacts): Weakness[] {
  if (members === 1)
    return [
      {
        text: 'With one member nobody is called dead: it is never fenced, since no other node could miss it.',
        remedy: {
          text: 'Enrol two more nodes, or one and name a witness.',
          command: 'muster agent token create',
        },
      },
    ];
  if (members !== 2 || witness !== '') return [];
  return [
    {
      text: 'With two members and no witness nobody is called dead, and nobody is fenced: each could be the one that is cut off.',
      remedy: {
        text: 'Name something that is no node and answers on a TCP port, such as the router; or enrol a third node.',
        command: 'muster settings set witness=HOST:PORT',
      },
    },
  ];
}
