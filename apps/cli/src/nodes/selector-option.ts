/** Option of every command on several nodes. */
export const SELECTOR = [
  '-l, --selector <selector>',
  'those for which all pieces hold: vars.rack=r1,failureDomain!=a,inService',
] as const;
