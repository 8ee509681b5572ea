import type { Mutant } from '../mutant.js';

const client = ['apps/gateway/src/clusterm/old-client.spec.ts'];
const networks = ['apps/gateway/src/auth/open-networks.spec.ts'];
const guard = 'apps/gateway/src/auth/bearer.guard.ts';
const open = 'apps/gateway/src/auth/open-networks.ts';

/** What is made for clients that know no tokens opens nothing else. */
export const callers: readonly Mutant[] = [
  {
    name: 'compat.allowFrom gives what an admin may',
    file: open,
    symbol: 'FROM_OPEN_NETWORK',
    operation: { set: 'role', to: "'admin'" },
    specs: client,
  },
  {
    name: 'compat.allowFrom opens all of the API',
    file: guard,
    symbol: 'BearerGuard.identify',
    operation: { drop: "if (!route.clusterm) throw new MusterError('UNAUTHORIZED', NEEDED);" },
    specs: client,
  },
  {
    name: 'a token that cannot be read is taken for none',
    file: guard,
    symbol: 'BearerGuard.identify',
    operation: { operand: "shown.kind === 'none'" },
    specs: client,
  },
  {
    name: 'HTTP Basic is taken on all of the API',
    file: guard,
    symbol: 'BearerGuard.identify',
    operation: { set: 'basic', to: 'true' },
    specs: client,
  },
  {
    name: 'an X-Forwarded-For is believed of anybody',
    file: 'apps/gateway/src/http/http-application.ts',
    symbol: 'createHttpApplication',
    operation: { set: 'trustProxy', to: 'true' },
    specs: client,
  },
  {
    name: 'whoever is behind a proxy that nobody has named is in its network',
    file: open,
    symbol: 'OpenNetworks.doubt',
    operation: { replace: 'FORWARDED.some((name) => headers[name] !== undefined)', with: 'false' },
    specs: networks,
  },
  {
    name: 'whoever comes by NAT is in the network of the router',
    file: open,
    symbol: 'OpenNetworks.doubt',
    operation: { replace: 'gateways.has(peer) || gateways.has(address)', with: 'false' },
    specs: networks,
  },
  {
    name: 'the page of a stranger asks in the name of who reads it',
    file: open,
    symbol: 'OpenNetworks.doubt',
    operation: { replace: 'mayBePage(headers, this.ownNames)', with: 'false' },
    specs: networks,
  },
  {
    name: 'who shows nothing is told where the store is',
    file: 'apps/gateway/src/store/store-health.ts',
    symbol: 'namedFault',
    operation: { replace: 'identified ? fault.message : fault.summary', with: 'fault.message' },
    specs: ['apps/gateway/src/store/store-health.spec.ts'],
  },
];
