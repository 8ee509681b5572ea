/** Cause of a start or stop that is owed by an operator's word: it already runs there, or it shall not run. */
export const PUT = 'put';
/** Cause of a start that an operator ordered after a stop: the node may still report the run before that stop. */
export const RUN_AGAIN = 'run-again';
/** Cause of a start that is owed since it ended by itself on a node that is well. */
export const ENDED = 'ended';
/** Begins the cause of a start that is owed since an incident took it from its node; the incident's id follows. */
export const INCIDENT = 'incident:';
/** Begins the cause of a start that is owed since its node rebooted; the boot follows that did not have it. */
export const REBOOT = 'reboot:';
