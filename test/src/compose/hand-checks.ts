import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { holds, type Check } from './check.js';
import { station as stationAddresses } from './control-machine.js';
import { bmcPassword } from './station.js';

/** That the services' hands reach out of their containers, to real peers at the station. */
export const handChecks: readonly Check[] = [
  {
    name: 'fencer-hand',
    needs: ['up'],
    title: 'the fencer reads the power of a real BMC by IPMI, asked over HTTP',
    async run({ composition, station, token }) {
      const created = await composition.cli(token, ['node', 'create', 'peer', 'S1', 'network.management=10.77.1.98']);
      holds(`node create: ${created.stderr}`, created.exitCode === 0);
      await station.startBmc();
      const device = ['--driver', 'ipmitool', '--username', 'muster', '--password-stdin'];
      const at = ['--address', stationAddresses.management];
      const added = await composition.cli(
        token,
        ['node', 'power-device', 'add', 'peer-S1', 'bmc', ...at, ...device],
        bmcPassword,
      );
      holds(`power-device add: ${added.stderr}`, added.exitCode === 0);
      const { exitCode, stdout, stderr } = await composition.cli(token, ['node', 'power-device', 'test', 'peer-S1']);
      holds(`power-device test: ${stdout} ${stderr}`, exitCode === 0 && /\bon\b/.test(stdout));
      return stdout.trim().replaceAll(/\s*\n\s*/g, ' | ');
    },
  },
  {
    name: 'provisioner-hand',
    needs: ['up'],
    title: 'Ansible logs in to a host by the key that init made',
    async run({ composition, station }) {
      const volume = join(composition.engine.volumes, `${composition.project}_config`, '_data');
      await station.startSsh(readFileSync(join(volume, 'ssh', 'id_ed25519.pub'), 'utf8').trim());
      const ansible = ['ansible', 'all', '-i', `${stationAddresses.management},`, '-u', 'root', '-m', 'ping', '-o'];
      const how = ['--private-key', '/etc/muster/ssh/id_ed25519', '-e', 'ansible_remote_tmp=/tmp/.muster-test-compose'];
      const ssh = '-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null';
      const pinged = await composition.exec('provisioner', ...ansible, ...how, `--ssh-common-args=${ssh}`);
      holds(`ansible: ${pinged.stdout} ${pinged.stderr}`, pinged.exitCode === 0 && pinged.stdout.includes('"pong"'));
      return pinged.stdout.trim();
    },
  },
];
