import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readInstallPage } from './install-page.js';

describe('what docs/install.md tells who sets up three control hosts in containers', () => {
  const page = readInstallPage(fileURLToPath(new URL('../../../..', import.meta.url)));

  it('names the hosts, and the folder where init writes what is for each', () => {
    expect(page.hosts.map(({ name }) => name)).toEqual(['ctl1', 'ctl2', 'ctl3']);
    expect(page.init.slice(0, 3)).toEqual(['init', 'prod', '--hosts']);
  });

  it('has each host’s folder owned by the containers’ user, and the composition made and started', () => {
    expect(page.up.split('\n').map((line) => line.replace(/ *#.*/, ''))).toEqual([
      'chown -R 10001:10001 /etc/muster',
      expect.stringMatching(/^compose="docker compose .*"$/),
      '$compose run --rm init',
      '$compose up -d',
    ]);
    expect(page.options).toEqual(expect.arrayContaining(['/etc/muster/host.env', '/etc/muster/compose.yml']));
  });
});
