import { UNTRIED, type LifeSigns, type PingSign, type PortSign, type SshSign } from '#contracts';

/**
 * ms for which a sign of life stays one: a connection that is lost on the way, that a busy ssh server turns away, or an
 * answer that the kernel there saves itself, must not look as if the host had died just then. By then several more were
 * tried.
 */
export const SIGN_KEPT = 10_000;

/** What a host has shown of itself, and when. Times are monotonic ms. */
export class HostSigns {
  private last: LifeSigns = { ...UNTRIED };
  private bannerAt = -Infinity;
  private taken: { sign: SshSign; at: number } = { sign: 'silent', at: -Infinity };
  private replyAt = -Infinity;
  private portAt = -Infinity;
  private agentPortAt = -Infinity;

  foundSsh(sign: SshSign, now: number): void {
    this.last.ssh = sign;
    if (sign === 'banner') this.bannerAt = now;
    if (sign === 'accepted' || sign === 'refused') this.taken = { sign, at: now };
  }

  foundIcmp(sign: PingSign, now: number): void {
    this.last.icmp = sign;
    if (sign === 'reply') this.replyAt = now;
  }

  foundPort(sign: PortSign, now: number): void {
    this.last.port = sign;
    if (sign === 'unreachable') this.portAt = now;
  }

  foundAgentPort(sign: PortSign, now: number): void {
    this.last.agentPort = sign;
    if (sign === 'unreachable') this.agentPortAt = now;
  }

  /** Its agent echoed: it is there again. */
  echoed(): void {
    this.agentPortAt = -Infinity;
    this.last.agentPort = 'not-tried';
  }

  /** Whom nobody looks at now: what was found is as good as not tried when he is looked at again; signs are kept. */
  rest(): void {
    this.last = { ...UNTRIED };
  }

  /** The last of what it has shown. */
  get latestAt(): number {
    return Math.max(this.bannerAt, this.kernelAt, this.agentPortAt);
  }

  get sshIsKnown(): boolean {
    return this.last.ssh !== 'not-tried';
  }

  read(now: number): LifeSigns {
    const kept = (at: number): boolean => now - at < SIGN_KEPT;
    const { ssh, icmp, port, agentPort } = this.last;
    const taken = kept(this.taken.at) && ssh !== 'accepted' && ssh !== 'refused' ? this.taken.sign : ssh;
    return {
      ssh: kept(this.bannerAt) ? 'banner' : taken,
      icmp: kept(this.replyAt) ? 'reply' : icmp,
      port: kept(this.portAt) ? 'unreachable' : port,
      // A kernel does not answer each datagram: that nobody listens there holds for as long as it answers at all.
      agentPort: kept(this.agentPortAt) || this.isAgentGone(now) ? 'unreachable' : agentPort,
    };
  }

  private isAgentGone(now: number): boolean {
    return this.agentPortAt > -Infinity && now - this.kernelAt < SIGN_KEPT;
  }

  private get kernelAt(): number {
    return Math.max(this.replyAt, this.portAt, this.taken.at);
  }
}
