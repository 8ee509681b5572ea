/** The house's walls: an app imports libs and itself; contracts import nothing of ours; bus and domain import contracts only. */
module.exports = {
  forbidden: [
    {
      name: 'no-app-imports-another-app',
      comment: 'Apps share only libs/. The standalone app is the one that hosts the others in its process.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/standalone/' },
      to: { path: '^apps/([^/]+)/', pathNot: '^apps/$1/' },
    },
    {
      name: 'contracts-import-nothing-of-ours',
      severity: 'error',
      from: { path: '^libs/contracts/' },
      to: { path: '^(dist/)?(apps|lab|test|bench|sim|libs/(?!contracts/))' },
    },
    {
      name: 'contracts-do-no-io',
      severity: 'error',
      from: { path: '^libs/contracts/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?crypto$' },
    },
    {
      name: 'bus-imports-contracts-only',
      severity: 'error',
      from: { path: '^libs/bus/' },
      to: { path: '^(dist/)?(apps|lab|test|bench|sim|libs/(service|probe|domain))' },
    },
    {
      name: 'domain-imports-contracts-only',
      comment: 'Rules that several programs share, pure: no package and nothing of Node either.',
      severity: 'error',
      from: { path: '^libs/domain/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(dist/)?(apps|lab|test|bench|sim|libs/(bus|service|probe))|^node_modules' },
    },
    {
      name: 'domain-does-no-io',
      severity: 'error',
      from: { path: '^libs/domain/', pathNot: '\\.spec\\.ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'plans-do-nothing',
      comment:
        'What decides about a fleet of one moment is pure: it is asked by who acts and by who shows what would be done.',
      severity: 'error',
      from: { path: '^apps/inventory/src/plan/', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^node_modules|^(dist/)?libs/(service|bus)/|^apps/inventory/src/store/|\\.(service|module|controller)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'probe-imports-contracts-only',
      comment: 'It is part of the agent, which every node gets.',
      severity: 'error',
      from: { path: '^libs/probe/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(dist/)?(apps|lab|test|bench|sim|libs/(bus|service|domain))|^node_modules' },
    },
    {
      name: 'libs-import-no-app',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^(dist/)?(apps|lab|test|bench|sim)/' },
    },
    {
      name: 'product-does-not-import-its-lab',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: '\\.spec\\.ts$' },
      to: { path: '^(dist/)?(lab|test|bench|sim)/' },
    },
    {
      name: 'nats-behind-the-ports',
      comment:
        'What stands above Wire and MessageLog runs unchanged in a simulation. A copy of a whole store is what the server itself makes of it. The agent has a small client of its own; contracts/keys knows nkeys. The lab reads a store as an outsider, to judge it, and plays peers that speak NATS.',
      severity: 'error',
      from: {
        path: '^(libs|apps|lab|bench|test|sim)/',
        pathNot:
          '^libs/bus/src/(nats|init|ports|store-copy|testing)/|^apps/agent/src/nats/|^libs/contracts/src/keys/|^lab/src/(audit/incident-history|peers/peers-user|cluster)\\.ts$|\\.spec\\.ts$',
      },
      to: { path: '@nats-io/' },
    },
    {
      name: 'ports-name-types-of-nats-only',
      severity: 'error',
      from: { path: '^libs/bus/src/ports/' },
      to: { path: '@nats-io/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'validators-stay-where-bodies-are-checked',
      comment:
        'To load class-validator takes 200 ms of CPU: every node, every command and every lab would pay. Of the classes that check bodies, all others know the types only.',
      severity: 'error',
      from: {
        path: '^(libs/(contracts|bus)|apps/(agent|cli|detector|fencer|provisioner)|lab|sim)/',
        pathNot:
          '^libs/contracts/src/(rpc/(requests|to-request)|settings/settings-request|workload/recovery-spec-request)\\.ts$|\\.spec\\.ts$|/testing/',
      },
      to: {
        path: 'node_modules/class-(validator|transformer)/|^(dist/)?libs/contracts/src/(rpc/(requests|to-request)|settings/settings-request|workload/recovery-spec-request)\\.',
        dependencyTypesNot: ['type-only'],
      },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'not-unlisted',
      comment: 'every package is in package.json',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js'],
    },
  },
};
