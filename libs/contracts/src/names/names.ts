/** What a node, a network, a host group, a workload may be called: safe in a file name, an Ansible inventory and a log. */
export const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** `<label>-<serial>`: the key of a node everywhere. */
export const nodeName = (label: string, serial: string): string => `${label}-${serial}`;

export const NODE_NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,126}$/;

/**
 * A name as one NATS token. A dot would split it in two, and NATS knows no escape: it becomes `=2E`, which no
 * valid name can contain.
 */
export const token = (name: string): string => name.replaceAll('.', '=2E');

export const fromToken = (encoded: string): string => encoded.replaceAll('=2E', '.');

/** The NATS user of a node's agent. */
export const agentUser = (node: string): string => `agent=${node}`;

/** The NATS user of one program of the operator. */
export const toolUser = (name: string): string => `tool=${name}`;

/**
 * Every NATS user has its own inboxes: nobody may read another's answers. An agent's has its node as a token of its own:
 * nats-server can fill in a user's name only there.
 */
export const inboxPrefix = (user: string): string => `_INBOX_${token(user).replace('=', '.')}`;

/**
 * Answers go to inboxes and nowhere else. Whoever asks says where its answer is to go, and who answers may publish more
 * than who asks: told `$KV.…`, it would write its answer into a bucket. `_R_.` is nats-server's own: it takes the answer
 * to who asked in another account.
 */
export const isInbox = (reply: string): boolean => /^(_INBOX[._]|_R_\.)\S+$/.test(reply);
