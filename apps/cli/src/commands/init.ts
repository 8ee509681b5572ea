import type { Command } from 'commander';
import { resolve } from 'node:path';
import { MusterError } from '#contracts/errors.js';
import { examples } from '../command.js';
import { Failure } from '../failure.js';

interface InitOptions {
  cluster: string;
  natsListen: string;
  agent: string[];
}

export function initCommand(program: Command): void {
  const command = program
    .command('init <dir>')
    .description('write what a new cluster needs: NATS users and their permissions, keys, configuration')
    .option('--cluster <name>', 'name of the cluster', 'muster')
    .option('--nats-listen <addresses>', 'host:port of the NATS server, several separated by commas', '127.0.0.1:4222')
    .option(
      '--agent <node>',
      'a node whose agent gets credentials; may be repeated',
      (n, all: string[]) => [...all, n],
      [],
    );
  examples(command, 'init /etc/muster --cluster prod --nats-listen 10.0.0.1:4222 --agent host1-SN1 --agent host2-SN2');
  command.action(async (dir: string, o: InitOptions) => {
    // Loaded only here: every other command speaks HTTP and starts faster without it.
    const { initCluster } = await import('#bus');
    try {
      initCluster(dir, {
        cluster: o.cluster,
        agents: o.agent,
        natsListen: o.natsListen.split(','),
        storeDir: resolve(dir, 'nats'),
      });
    } catch (error) {
      if (error instanceof MusterError) throw new Failure(error.message);
      const { code } = error as NodeJS.ErrnoException;
      if (code !== undefined) throw new Failure(`${dir}: ${(error as Error).message}`);
      throw error;
    }
    process.stdout.write(`written: ${resolve(dir)}\n`);
  });
}
