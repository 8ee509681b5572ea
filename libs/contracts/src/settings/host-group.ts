/** Roles carry the master rules of the operations contract. */
export type HostGroupRole = 'master' | 'worker' | 'none';
export interface HostGroup {
  name: string;
  role: HostGroupRole;
  /** What happens when a returned node's check finds drift. @default 'resetup' */
  onReturn?: 'resetup' | 'ask' | 'check-only';
  /** `none`: its nodes may be powered off although no channel could show that the host lives; with the reason. */
  lifeSign?: 'none';
  lifeSignReason?: string;
}
