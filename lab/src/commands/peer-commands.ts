import { MusterError } from '#contracts';
import { askPeers } from '../peers/peers-process.js';
import { peerOf } from '../plan.js';
import type { Cli } from './cli.js';

/** Simulated peers die and come back. */
export function peerCommands(cli: Cli): void {
  cli.program
    .command('peer <verb> <name...>')
    .description('kill, boot: simulated peers (peer1 …), all at one instant; a lab has them with up --peers N')
    .action(async (verb: string, names: string[]) => {
      if (verb !== 'kill' && verb !== 'boot')
        throw new MusterError('BAD_REQUEST', `peer takes kill or boot, not "${verb}"`);
      const lab = cli.folder();
      lab.running();
      const plan = lab.plan();
      const peers = names.map((n) => peerOf(plan, n));
      const nodes = peers.map((p) => p.node);
      const { ns, at, dead } = await askPeers(lab, verb === 'kill' ? { kill: nodes } : { boot: nodes });
      const told = peers.map((p) => p.name).join(', ');
      cli.answer({ ok: true, nodes, dead, ns, at }, `${told} ${verb === 'kill' ? 'silent' : 'back'}`);
    });
}
