/**
 * By what a host can show that it lives although its agent is silent: the banner of its ssh, an echo of ICMP, and the
 * kernel's own word that nobody listens on a UDP port.
 */
export const LifeChannels = ['ssh', 'icmp', 'port'] as const;
export type LifeChannel = (typeof LifeChannels)[number];

/**
 * `accepted`: the kernel took the connection, and no ssh spoke. `refused`: nobody listens, by the host's own word.
 * `not-tried`: not yet, or we ourselves could not send.
 */
export type SshSign = 'banner' | 'accepted' | 'refused' | 'silent' | 'not-tried';
/** `cannot`: there is no way to ask from here (no `ping`, not permitted). */
export type PingSign = 'reply' | 'silent' | 'not-tried' | 'cannot';
/** `unreachable`: the kernel says that nobody listens there. */
export type PortSign = 'unreachable' | 'silent' | 'not-tried' | 'cannot';

/** What was found at a host, by channel. */
export interface LifeSigns {
  ssh: SshSign;
  icmp: PingSign;
  /** A UDP port on which nobody listens: {@link UNUSED_PORT}. */
  port: PortSign;
  /** The UDP port of its agent. */
  agentPort: PortSign;
}

export const UNTRIED: Readonly<LifeSigns> = {
  ssh: 'not-tried',
  icmp: 'not-tried',
  port: 'not-tried',
  agentPort: 'not-tried',
};

/** Of a look whose silence says nothing: what was found, and of the rest that it was not tried. */
export const withoutSilence = ({ ssh, icmp, port, agentPort }: LifeSigns): LifeSigns => ({
  ssh: foundOrUntried(ssh),
  icmp: foundOrUntried(icmp),
  port: foundOrUntried(port),
  agentPort: foundOrUntried(agentPort),
});

const foundOrUntried = <S extends string>(sign: S): S | 'not-tried' => (sign === 'silent' ? 'not-tried' : sign);

/** What one observer found when it looked for life in a host whose agent is silent. */
export interface LifeObservation extends LifeSigns {
  /** Instance of the detector, or name of the node. */
  by: string;
  /** The channels that this observer has seen to speak while the node lived: of others, silence says nothing. */
  spoke: LifeChannel[];
}

/** UDP `discard`: who listens there throws away what comes, and nearly nobody does; no ephemeral port is as low. */
export const UNUSED_PORT = 9;

/** Which channels an observer last saw to speak while the node lived; of another place it says nothing. */
export interface LifeSeen {
  /** Address and ssh port of the node at that time, see `lifePlace`. */
  place: string;
  channels: LifeChannel[];
  /** Wall clock, ms: for people. */
  at: number;
}
export const lifePlace = (host: string, sshPort: number): string => `${host} ${sshPort}`;
/** Under which name a node that was asked to look stands among the observers of {@link LifeSeen}; detectors have their own. */
export const agentObserver = (node: string): string => `agent:${node}`;
export const isAgentObserver = (observer: string): boolean => observer.startsWith('agent:');

/** By an admin: this node may be powered off although no channel could show that its host lives. */
export interface LifeSignWaived {
  reason: string;
  by: string;
  at: number;
}
