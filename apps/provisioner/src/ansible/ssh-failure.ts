import { MANAGEMENT } from '#contracts';

/** How this run reached its nodes. */
export interface SshWay {
  user: string;
  /** Absent: ssh's own keys and agent. */
  privateKey?: string;
}

/**
 * What ssh said, with the key and the user that it was tried with and what to do; as it is where ssh said nothing that
 * is known. ssh's own words name the address.
 */
export function sshFailure(message: string, { user, privateKey }: SshWay): string {
  if (!/via ssh|ssh:/i.test(message)) return message;
  const key = privateKey === undefined ? "ssh's own keys" : `the key ${privateKey}`;
  if (/Permission denied/i.test(message))
    return `${said(message)} Tried as ${user} with ${key}: put its public half into ${user}'s authorized_keys there, or change ansible.user and ansible.privateKey.`;
  if (/Connection refused|timed out|No route to host|unreachable/i.test(message))
    return `${said(message)} Is sshd there, and the address of network ${MANAGEMENT} right? (muster node set NODE network.${MANAGEMENT}=ADDRESS)`;
  return message;
}

const said = (message: string): string => message.trim().replace(/[.;]?$/, '.');
