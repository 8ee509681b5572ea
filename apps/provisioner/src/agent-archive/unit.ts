/**
 * The agent's unit. A node whose agent is silent is judged dead: it comes back at once, without end, is not starved by
 * what else runs, and is the last to be killed where memory runs out. It reads the host and writes two folders of its own;
 * workloads, the start gate and the workload tool run outside of it.
 */
export const agentUnit = (home: string, program: string): string => `[Unit]
Description=Muster uptime agent
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0
# Until it is enrolled there is nothing to run.
ConditionPathExists=/etc/muster/agent.json

[Service]
ExecStart=${home}/current/node ${home}/current/${program}
Restart=always
RestartSec=200ms
# It says that it goes, and why: half a second.
TimeoutStopSec=5s
RuntimeDirectory=muster
StateDirectory=muster
UMask=0077

# Heard in time whatever else runs here. What it needs is a few percent of a core and 60 MB.
Nice=-15
CPUWeight=1000
OOMScoreAdjust=-900
MemoryMax=256M
TasksMax=128
LimitNOFILE=4096
LimitCORE=0

# It asks systemd what runs (AF_UNIX), looks at its interfaces (AF_NETLINK), and compiles JavaScript, so its memory cannot
# be kept from being both written and executed.
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native

[Install]
WantedBy=multi-user.target
`;
