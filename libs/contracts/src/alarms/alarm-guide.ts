import type { AlarmCode, AlarmRecord } from './alarm.js';
import { word, type Remedy } from '../remedies/remedy.js';

/** What an alarm is about, and what to do: its remedy, and its row in docs/alarms.md. */
export interface AlarmGuide {
  /** Subject, as the page calls it. */
  subject: string;
  /** What it means, in one sentence. */
  meaning: string;
  /** The first thing to do. */
  text: string;
  command: (subject: string) => string;
}

/** Subject of an alarm that is about all nodes, or most of them. */
const FLEET = 'fleet';

const always = (command: string) => (): string => command;
/** Told of most of the fleet at once, there is no node to look at. */
const why = (subject: string): string => (subject === FLEET ? 'muster status' : `muster node why ${word(subject)}`);
const whyFirst = (link: string): string => why(link.split('~')[0] ?? link);
const getNode = (node: string): string => `muster node get ${word(node)}`;
const getIncident = (node: string): string => `muster incident get ${word(node)}`;
const getWorkload = (name: string): string => `muster workload get ${word(name)}`;
const testPower = (node: string): string => `muster node power-device test ${word(node)}`;

/** Every code: a new one is not complete without it. */
export const alarmGuides: Record<AlarmCode, AlarmGuide> = {
  'agent-down': {
    subject: 'NODE',
    meaning: 'The host lives and its agent does not: it is not fenced, and nobody sees what runs there.',
    text: 'Start the agent there (systemctl start muster-agent). Only where the host serves nothing any more, release its incident with --force: it is powered off then.',
    command: getIncident,
  },
  'host-hung': {
    subject: 'NODE',
    meaning: 'The kernel answers, and nothing above it does.',
    text: 'Look at its console. By the policy fencing.hung it is powered off after 10 s, or held until you release its incident with --force.',
    command: getIncident,
  },
  'life-sign-weak': {
    subject: 'NODE',
    meaning:
      'Nothing but its agent has ever shown that the host lives: should the agent fall silent, it is not fenced.',
    text: 'Let the detector reach ssh or ICMP on it; where that cannot be, an admin says that it may be fenced all the same (muster node life-sign NODE none).',
    command: (node) => (node === FLEET ? 'muster nodes get' : getNode(node)),
  },
  'partial-reachability': {
    subject: 'NODE',
    meaning: 'It seems dead to most, and somebody still hears it: it is not fenced.',
    text: 'See who hears it and by which network, and mend that network.',
    command: why,
  },
  'network-down': {
    subject: 'NETWORK',
    meaning: 'Most nodes are silent on one network.',
    text: 'Look at its switch, not at the nodes. While it lasts, deaths are judged by the other networks.',
    command: always('muster events --kind verdict --since 1h'),
  },
  'node-degraded': {
    subject: 'NODE',
    meaning: 'One node is silent on one of its networks.',
    text: 'Look at its cable, its port and its interface.',
    command: why,
  },
  blind: {
    subject: 'fleet',
    meaning: 'Too few nodes report to judge anybody: nobody is fenced.',
    text: 'See which agents do not report: their hosts, their agents, or the network between them and NATS.',
    command: always('muster nodes get'),
  },
  'detector-silent': {
    subject: 'detector',
    meaning: 'No detector is heard: every verdict is UNKNOWN, and nobody is fenced.',
    text: 'Start the detector, or see in its log what keeps it from its lease.',
    command: always('muster status'),
  },
  'fencing-failed': {
    subject: 'NODE',
    meaning: 'Its power could not be proven off: its work is started nowhere.',
    text: 'See what the device answers, and whose it says it is (muster node power-device test), and correct it (muster node power-device set); or go there, see that it is off, and confirm (muster incident confirm).',
    command: testPower,
  },
  'fencing-suppressed': {
    subject: 'NODE',
    meaning: 'It is to be fenced, and a gate stops that: none of its work is started elsewhere.',
    text: 'The message names the gate; what to do about each: muster manual gates. Then release the incident, or confirm that the node is down.',
    command: getIncident,
  },
  'fencing-waits': {
    subject: 'NODE',
    meaning:
      'It is DOWN, or was ordered off by hand, and its fencing does not begin: none of its work is started elsewhere.',
    text: 'The message says what it waits for. Where that is the detector, look at its host and its log; where it is the fencers, at theirs (muster drivers). Where the node is seen to be off: muster node fence, then muster incident confirm.',
    command: why,
  },
  brake: {
    subject: 'fleet',
    meaning: 'More nodes fell silent at once than may: none of them is fenced by itself.',
    text: 'Look for what they have in common. Release those that are really dead (muster storm release), or confirm those that you have seen off (muster storm confirm).',
    command: always('muster storm get'),
  },
  'domain-down': {
    subject: 'DOMAIN',
    meaning: 'Most of a failure domain fell silent together: none of it is fenced by itself.',
    text: 'Look at its power and its switch. Release those that are really dead (muster storm release), or confirm those that you have seen off (muster storm confirm).',
    command: always('muster storm get'),
  },
  'not-fenceable': {
    subject: 'NODE',
    meaning: 'It seems dead, and Muster may not, or cannot, power it off: its work is started nowhere.',
    text: 'See that it is off (its switch, its BMC), and confirm (muster incident confirm): its work starts elsewhere then.',
    command: getIncident,
  },
  'dead-with-work': {
    subject: 'NODE',
    meaning: 'It is dead, it is left alone by an operator’s word, and work that should run is assigned to it.',
    text: 'See who cordoned it, and whether somebody works on it. Then uncordon it (muster node uncordon): it is fenced, and its work starts elsewhere. Or have it fenced by hand: muster node fence.',
    command: getNode,
  },
  'no-room': {
    subject: 'WORKLOAD',
    meaning: 'No node in service has room for it: it runs nowhere.',
    text: 'Bring a node of its host group into service, or stop something that matters less; it is placed by itself then.',
    command: always('muster status'),
  },
  'workload-held': {
    subject: 'WORKLOAD',
    meaning: 'It should run and is not started, or should stop and is not stopped.',
    text: 'The message says what it waits for.',
    command: getWorkload,
  },
  'workload-ended': {
    subject: 'WORKLOAD',
    meaning: 'It ended by itself on its node, and was started there again and again.',
    text: 'The message says how often. The log of its unit on the node says why it ends.',
    command: getWorkload,
  },
  'workload-ungated': {
    subject: 'NODE',
    meaning:
      'Work runs, or ran, there without Muster’s start gate: the next boot of the node would start it beside its copy elsewhere, also where it has crashed since. Muster does not power the node on by itself, and starts what is assigned to it on no other node while this one lives.',
    text: 'Have Muster stop it and start it again, which puts the gate there: muster workload put NAME --desired stopped, then --desired running. Where another tool starts it and asks Muster first, let the lister say "gated": true. Where the node is off: keep it from starting anything at its boot, then switch it on.',
    command: getNode,
  },
  'power-on-withheld': {
    subject: 'NODE',
    meaning: 'It was fenced, its work runs elsewhere, and it stays off.',
    text: 'See why it died; then switch it on (muster node power on). It is checked before it serves again.',
    command: getIncident,
  },
  'boot-timeout': {
    subject: 'NODE',
    meaning: 'It was powered on, and was not heard in a new boot within its boot grace.',
    text: 'Look at its console: it hangs in its firmware, or its agent does not start.',
    command: (node) => `muster node power status ${word(node)}`,
  },
  'check-failed': {
    subject: 'NODE',
    meaning:
      'The check of a node cannot be carried out, or tells nothing of a service that was set up there. It is tried again, for ever. A node that is back is out of service until one passes; one that was in service stays there.',
    text: 'Mend tasks/check.yml of the service that it names, and check again. Where the service was taken out of its folder on purpose: muster node resetup.',
    command: (node) => `muster node check ${word(node)} --wait`,
  },
  'check-unreachable': {
    subject: 'NODE',
    meaning:
      'Ssh does not get to a node for its check. It is tried again, for ever. A node that is back is out of service until one passes; one that was in service stays there.',
    text: 'Look at its ssh server, its firewall and its key.',
    command: getNode,
  },
  drift: {
    subject: 'NODE',
    meaning:
      'A check found another configuration than it should have. A node that has returned waits for you; one that is in service stays there, and nothing was changed.',
    text: 'See the findings; set it up anew (muster node resetup, with --force where work runs there: that is moved away first), or correct what differs and check again. Where it is wanted so: muster node release NODE --accept --reason "…".',
    command: (node) => `muster node check ${word(node)} --diff`,
  },
  'resetup-failed': {
    subject: 'NODE',
    meaning: 'Its re-setup failed: it stays out of service.',
    text: 'See the log of the job (muster job list), mend its cause, and set the node up again.',
    command: (node) => `muster node resetup ${word(node)} --wait`,
  },
  flapping: {
    subject: 'NODE',
    meaning: 'It left and returned so often that it does not return to service by itself.',
    text: 'Find out why it comes and goes; when it is mended, a check that passes takes it back.',
    command: (node) => `muster node check ${word(node)} --wait`,
  },
  conflict: {
    subject: 'NODE',
    meaning: 'Two machines report under one name: neither is judged, neither is fenced.',
    text: 'Stop the agent on the one that is not this node; where its credentials were copied, shut it out (muster node revoke) and enrol the right one anew.',
    command: why,
  },
  'conflict-power': {
    subject: 'NODE',
    meaning:
      'It has spoken although its power counts as off, or that rests on another machine’s device: nothing more of it is started elsewhere.',
    text: 'Its power device may be another machine’s: test it, and correct it.',
    command: testPower,
  },
  'conflict-workload': {
    subject: 'WORKLOAD',
    meaning: 'It runs on a node that it is not assigned to.',
    text: 'End it by hand on one of the two nodes.',
    command: getWorkload,
  },
  collateral: {
    subject: 'NODE',
    meaning: 'Its power-off may have hit another node: its proof of off is held.',
    text: 'See which of the two is off. Where it is this one, confirm (muster incident confirm); else correct its power device.',
    command: testPower,
  },
  'no-workers': {
    subject: 'DRIVER',
    meaning: 'No live worker offers a driver that nodes need.',
    text: 'Start a fencer or provisioner that offers it, or see in its log why its self-test fails.',
    command: always('muster drivers'),
  },
  'worker-outdated': {
    subject: 'SERVICE=ID',
    meaning: 'A fencer or provisioner of an earlier version runs, which does not read what this one stores.',
    text: 'Stop it, and start one of this version. While such a fencer leads, inventory lets it power nothing off.',
    command: always('muster workers'),
  },
  'peer-list': {
    subject: 'NODE',
    meaning: 'An agent cannot use the list of its peers, and goes on with its last good one.',
    text: 'Run muster-agent status there: it says what is wrong with the list.',
    command: why,
  },
  'power-place': {
    subject: 'NODE',
    meaning: 'Power devices of two nodes are at one place: neither node is fenced.',
    text: 'Correct the address of the one that is wrong.',
    command: (node) => `muster node power-device list ${word(node)}`,
  },
  'power-identity': {
    subject: 'NODE',
    meaning: 'A power device says that it is another machine’s: the node is not fenced.',
    text: 'Correct the wiring or the address, and test again.',
    command: testPower,
  },
  'power-identity-unread': {
    subject: 'NODE',
    meaning: 'A power device was proven, and does not say who it is any more: it would not be used when its node dies.',
    text: 'See why. Where its firmware says nothing any more, give it another user name, and drill it.',
    command: testPower,
  },
  'drain-stuck': {
    subject: 'NODE',
    meaning: 'A drain goes no further: what could not move runs on where it is.',
    text: 'Make room elsewhere, or end the drain.',
    command: getNode,
  },
  'webhook-failing': {
    subject: 'WEBHOOK',
    meaning: 'A webhook has not taken what was sent to it: who relies on it is not told.',
    text: 'See whether its receiver lives, and whether its address is right.',
    command: always('muster settings get'),
  },
  'link-down': {
    subject: 'NODE~NODE',
    meaning: 'Two nodes do not hear each other on a network, while others hear both.',
    text: 'Look at the path between the two: a switch port, a firewall, a wrong MTU.',
    command: whyFirst,
  },
  'partly-heard': {
    subject: 'NODE',
    meaning: 'Some observers hear a node on no network, or it has no verdict although others report.',
    text: 'See who hears it and who does not. A node without a verdict is not fenced: an operator decides.',
    command: why,
  },
  'link-quality': {
    subject: 'NODE',
    meaning: 'Many probes are lost on the way to it.',
    text: 'Look at its cable, its port and its load before it falls silent.',
    command: whyFirst,
  },
  'auth-failure': {
    subject: 'NODE',
    meaning: 'Somebody sends what does not bear the cluster’s key, or speaks as a node that is not let in.',
    text: 'See whether an agent has an old key; where nobody of yours sends it, exchange the key.',
    command: always('muster agent key status'),
  },
  duplicate: {
    subject: 'NODE',
    meaning: 'A machine was refused that claims the name or address of this node.',
    text: 'Give that machine its own name and address; where it is new hardware in an old place, replace the node (muster node replace).',
    command: getNode,
  },
  'agent-health': {
    subject: 'NODE',
    meaning: 'An agent warns, abstains for long, or is not heard.',
    text: 'Run muster-agent status there: it says what is wrong.',
    command: why,
  },
  'record-unreadable': {
    subject: 'BUCKET/KEY',
    meaning: 'A stored record cannot be read: it is left out of everything.',
    text: 'See what it says. What another key has sealed is whole: give inventory that key. Else restore it, or delete it.',
    command: always('muster record list'),
  },
  'token-behind': {
    subject: 'LEASE',
    meaning: 'A lease is held with a token below one in the records that it guards: its holder’s writes are refused.',
    text: 'The store was set back, or restored: docs/store.md says what to do. It ends when the token is raised.',
    command: always('muster status'),
  },
  'task-failing': {
    subject: 'TASK',
    meaning:
      'Something that the conductor drives has failed at least five times in a row, over 30 s: that part of its work stands still.',
    text: 'See what it fails with, and about what. Where that is one node, workload or job, correct or delete it; where nothing can be stored, see to NATS. The log of the inventory that holds the lease conductor has the cause.',
    command: always('muster status'),
  },
  'bucket-anew': {
    subject: 'BUCKET',
    meaning: 'A bucket of Muster vanished, or is another one than before: what it held is gone.',
    text: 'Restore it from a backup where it held more than can be made again: docs/store.md says which. Accept it where nothing is missed: muster alarms ack bucket-anew=BUCKET.',
    command: always('muster alarms list'),
  },
  'store-loaded': {
    subject: 'GENERATION',
    meaning:
      'The store is of an earlier moment, by a load or by files that were put back: what was written after that is not in it, and fencing is paused.',
    text: 'Where the alarm says that files were put back, stop the services and run muster store restored first. Then check what happened since: who is dead and who is cordoned, where each workload runs, and who was revoked. docs/store.md has the list. When all of it is right accept it (muster alarms ack store-loaded=GENERATION), and end the pause by setting the mode: muster fencing set enforce, or observe where it was that.',
    command: always('muster alarms list'),
  },
  'store-unwatched': {
    subject: 'INVENTORY',
    meaning:
      'An inventory cannot write into its data folder what it has seen of the store: files of NATS that are put back while it does not run are not found by it.',
    text: 'Make room on that disk, or let inventory write into the folder that the alarm names (dataDir in muster.yaml, MUSTER_DATA_DIR). It ends by itself.',
    command: always('muster alarms list'),
  },
  'store-space': {
    subject: 'disk, of several control hosts disk.HOST',
    meaning: 'The disk under NATS is 80 % full or more: from 100 % on nothing is stored, and nobody is fenced.',
    text: 'Make room on that disk, or move the store to a larger one: docs/store.md says how.',
    command: always('muster status'),
  },
  'nats-plain': {
    subject: 'nats',
    meaning: 'NATS is spoken to over a network without TLS: who listens in there reads and changes what is said.',
    text: 'Give NATS a certificate, then the agents its CA: docs/security.md says how, step by step.',
    command: always('muster tls enable --also-plain'),
  },
  'certificate-expires': {
    subject: 'nats|http, of several control hosts nats.HOST|http.HOST',
    meaning:
      'A certificate ends within 30 days, or, where it is critical, within 3: from then on no service and no agent connects to NATS (nats), or nobody to the API (http).',
    text: 'Of NATS: issue it anew on the control machine, and let NATS read it: systemctl reload muster-control-nats; of several control hosts copy tls/ of each from the folder of muster init --hosts before. Of the API: put another one into the files of http.tls; the gateway shows it by itself.',
    command: (subject) => (subject.startsWith('http') ? 'muster doctor' : 'muster tls renew'),
  },
  'certificate-broken': {
    subject: 'nats|http, of several control hosts nats.HOST|http.HOST',
    meaning:
      'The certificate or the key on disk cannot be used: the one before is still shown (nats: by NATS, http: by the API), and nothing starts with this one.',
    text: 'Of NATS: issue it anew on the control machine, and let NATS read it: systemctl reload muster-control-nats. Of the API: put a certificate and the key that belongs to it into the files of http.tls; the gateway shows them by itself.',
    command: (subject) => (subject.startsWith('http') ? 'muster doctor' : 'muster tls renew'),
  },
};

export const alarmRemedy = ({ code, subject }: Pick<AlarmRecord, 'code' | 'subject'>): Remedy => {
  const guide = alarmGuides[code];
  return { text: guide.text, command: guide.command(subject) };
};
