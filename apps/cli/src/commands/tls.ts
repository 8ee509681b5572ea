import type { Command } from 'commander';
import { does, examples, type Run } from '../command/command.js';
import { Failure } from '../failure/failure.js';
import { goneHosts } from '../hosts/gone-hosts.js';
import { onFiles } from '../failure/on-files.js';

interface TlsOptions {
  dir: string;
  host: string[];
}

const DIR = ['--dir <dir>', 'what muster init has written', '/etc/muster'] as const;
const HOST = '--host <name>';
const more = (name: string, all: string[]): string[] => [...all, name];

/** The certificate of NATS: the files are those of the control machine, so no server is asked. */
export function tlsCommands(program: Command): void {
  const tls = program.command('tls').description('the certificate of NATS, by the CA of this cluster');
  examples(tls, 'tls renew');
  examples(
    does(
      tls
        .command('enable')
        .description('give a NATS that has none a CA and a certificate; it speaks TLS from its next start on')
        .option(HOST, 'one more name or address under which NATS is reached; may be repeated', more, [])
        .option('--also-plain', 'let clients in that hold no CA, until this is said again without it')
        .option(...DIR),
      enable,
    ),
    'tls enable --also-plain     # before the agents hold the CA',
    'tls enable                  # when all of them do',
  );
  examples(
    does(
      tls
        .command('renew')
        .description('issue the certificate of NATS anew, with the names that it had; the CA stays')
        .option(HOST, 'one more name or address under which NATS is reached; may be repeated', more, [])
        .option(...DIR),
      renew,
    ),
    'tls renew',
    'tls renew --host 10.0.0.7 --dir /srv/muster',
  );
}

async function enable({ terminal }: Run, o: TlsOptions & { alsoPlain?: true }): Promise<void> {
  const { enableTls } = await import('#bus');
  await onFiles(() => enableTls(o.dir, o.host, o.alsoPlain === true));
  terminal.line(`written: ${o.dir}`);
  terminal.note('muster: start NATS anew, then the services: systemctl restart muster-control.target');
  if (o.alsoPlain === true) terminal.note('muster: clients without the CA are still let in');
}

async function renew({ terminal }: Run, o: TlsOptions): Promise<void> {
  const { hostFolder, moveKeyApart, renewServerCertificate, writtenHosts } = await import('#bus');
  const { hosts, gone } = await onFiles(() => Promise.resolve(writtenHosts(o.dir)));
  if (hosts.length > 0 && o.host.length > 0)
    throw new Failure(`${o.dir} is of several control hosts: what they are reached by is said to muster init --hosts`);
  let moved = false;
  for (const folder of hosts.length > 0 ? hosts.map((name) => hostFolder(o.dir, name)) : [o.dir]) {
    moved = (await onFiles(() => Promise.resolve(moveKeyApart(folder)))) || moved;
    const { names, endsAt } = await onFiles(() => renewServerCertificate(folder, o.host, o.dir));
    terminal.line(`valid until ${new Date(endsAt).toISOString().slice(0, 10)}, for ${names.join(', ')}`);
  }
  if (gone.length > 0) terminal.note(`muster: ${goneHosts(o.dir, gone)}`);
  if (moved) {
    if (hosts.length > 0)
      terminal.note(
        `muster: copy nats.conf, tls/ and tls-key/ of each folder of ${o.dir}/hosts to its host, and delete tls/server.key there`,
      );
    terminal.note(
      'muster: the key has a folder of its own now, tls-key/: restart NATS, on one host after the other: systemctl restart muster-control-nats',
    );
    return;
  }
  if (hosts.length > 0) terminal.note(`muster: copy tls/ of each folder of ${o.dir}/hosts to its host`);
  terminal.note('muster: NATS shows it once it is reloaded: systemctl reload muster-control-nats');
}
