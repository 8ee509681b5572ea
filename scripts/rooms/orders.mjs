/**
 * The rooms of each program and library, from the lowest up: a room may import those before it. The files that lie in `src`
 * itself compose the rest, and stand above all.
 */
export const orders = {
  'apps/agent': `
    links log membership poll
    nats peers wire
    config keys
    control enrol
    workload
    life report`,
  'apps/cli': `
    failure hosts io restore
    containers output server
    command
    doctor input jobs
    events services
    nodes
    commands
    clusterctl`,
  'apps/detector': `
    observers probe
    fleet polls
    life verdicts
    conditions`,
  'apps/fencer': `
    drivers
    power
    fencing`,
  'apps/gateway': `
    auth body queries store
    events idempotency openapi rpc
    clusterm health v1
    http`,
  'apps/inventory': `
    store ages agent-users
    alarms alarms/webhook settings tokens
    conductor
    verdicts reports
    records
    power
    nodes
    node-state
    identity
    operations
    snapshot plan
    plan/agents plan/alarms plan/checks plan/incidents plan/jobs plan/power plan/returns plan/store plan/workloads
    plan/nodes plan/recovery
    claims jobs checks
    agents
    node-requests node-files
    incidents
    workloads
    external-monitors
    execute
    plan-view status`,
  'apps/provisioner': `
    agent-archive content diff services
    ansible
    discover service-test
    jobs`,
  'apps/standalone': '',
  'libs/bus': `
    system store-names readings pulse
    users ports
    keys servers rpc
    nats streams
    guard kv
    bus
    lease workers store-health
    init
    store-copy`,
  'libs/contracts': `
    errors ports names addresses remedies
    alarms hardware services workload
    settings keys
    wire
    job
    verdict
    node
    incident
    workers admission records
    rpc
    incident-report`,
  'libs/domain': `
    claim job node retry
    verdict incident
    restore return workload
    power
    removal`,
  'libs/probe': '',
  'libs/service': 'metrics watchdog',
};
