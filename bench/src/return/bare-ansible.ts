import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { NodeView } from '#contracts';
import { PROJECT } from '../../../lab/src/folder.js';
import { PYTHON } from '../../../lab/src/python.js';
import { run } from '../../../lab/src/run.js';
import type { BenchService } from './bench-services.js';

export type Book = 'check' | 'cleanup' | 'site';

const LIMIT_MS = 120_000;
const ROLES: Record<string, string> = { 'service-master': 'master', 'service-worker': 'worker' };

export interface BareOptions {
  /** A folder that is there, for its files; its path is short, as that of an ssh socket must be. */
  dir: string;
  /** Network namespace of the machine that it runs on, as the provisioners do. */
  netns: string;
  ssh: { key: string; knownHosts: string };
  /** The fleet: what a template says of a host may depend on the others. */
  nodes: readonly NodeView[];
  /** Folder of the services. */
  services: string;
}

/**
 * What somebody has who has Ansible and no Muster: the same services as roles, an inventory, and a playbook for each
 * thing to do. Every check, also that after a site run, fails where a service is not as Muster has set it up.
 */
export class BareAnsible {
  constructor(private readonly o: BareOptions) {
    const { dir, services } = o;
    for (const folder of ['roles', 'cp']) mkdirSync(join(dir, folder));
    symlinkSync(join(PROJECT, 'playbooks', 'group_vars'), join(dir, 'group_vars'));
    writeFileSync(join(dir, 'inventory.yml'), JSON.stringify(this.inventory()));
    for (const name of readdirSync(services)) {
      const role = join(dir, 'roles', name);
      mkdirSync(join(role, 'defaults'), { recursive: true });
      symlinkSync(join(services, name, 'defaults.yml'), join(role, 'defaults', 'main.yml'));
      for (const part of ['tasks', 'templates', 'files']) symlinkSync(join(services, name, part), join(role, part));
    }
  }

  /** ms that ansible-playbook runs. COMMAND_FAILED where it fails */
  async run(book: Book, node: NodeView, services: readonly BenchService[]): Promise<number> {
    const file = join(this.o.dir, `${book}.yml`);
    writeFileSync(file, JSON.stringify(this.playbook(book, node.hostGroup ?? '', services)));
    const inventory = join(this.o.dir, 'inventory.yml');
    const argv = ['netns', 'exec', this.o.netns, 'ansible-playbook', '-i', inventory, '--limit', node.name, file];
    const began = performance.now();
    await run('ip', argv, { timeoutMs: LIMIT_MS, env: this.environment() });
    return performance.now() - began;
  }

  private playbook(book: Book, group: string, services: readonly BenchService[]): unknown {
    const order = book === 'cleanup' ? services.toReversed() : services;
    const steps: Book[] = book === 'site' ? ['site', 'check'] : [book];
    const tasks = steps.flatMap((step) =>
      order.map(({ name, groups }) => ({
        environment: { MUSTER_SERVICE: name, MUSTER_VERIFY: '1' },
        vars: { muster_mode: groups[group] },
        block: [{ 'ansible.builtin.include_role': { name, tasks_from: step } }],
      })),
    );
    return [{ hosts: 'all', gather_facts: false, environment: '{{ muster_environment }}', tasks }];
  }

  private inventory(): unknown {
    const { nodes, ssh } = this.o;
    const address = (n: NodeView): string => n.networks['management']?.address ?? '';
    const hosts = nodes.map((n) => [
      n.name,
      {
        ansible_host: address(n),
        ansible_user: 'root',
        ansible_python_interpreter: PYTHON,
        ansible_ssh_private_key_file: ssh.key,
        ansible_ssh_extra_args: `-o UserKnownHostsFile=${ssh.knownHosts} -o StrictHostKeyChecking=yes`,
        muster_host_group: n.hostGroup,
        muster_role: ROLES[n.hostGroup ?? ''] ?? 'none',
        muster_management_address: address(n),
      },
    ]);
    const masters = nodes.filter((n) => ROLES[n.hostGroup ?? ''] === 'master').map((n) => [n.name, {}]);
    return {
      all: {
        hosts: Object.fromEntries(hosts) as unknown,
        children: { muster_role_master: { hosts: Object.fromEntries(masters) as unknown } },
      },
    };
  }

  /** The settings of Ansible that Muster's provisioners use. */
  private environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      HOME: this.o.dir,
      LANG: 'C.UTF-8',
      LC_ALL: 'C.UTF-8',
      PYTHONDONTWRITEBYTECODE: '1',
      ANSIBLE_CONFIG: join(PROJECT, 'playbooks', 'ansible.cfg'),
      ANSIBLE_ROLES_PATH: join(this.o.dir, 'roles'),
      ANSIBLE_HOME: this.o.dir,
      ANSIBLE_LOCAL_TEMP: join(this.o.dir, 'tmp'),
      ANSIBLE_SSH_CONTROL_PATH_DIR: join(this.o.dir, 'cp'),
    };
  }
}
