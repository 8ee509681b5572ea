import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addToolUser, initCluster } from '#bus';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(root, 'docs', 'security.md'), 'utf8');

/** First two cells of every row of the tables in the section: file → services that see it. */
const rows = new Map(
  [
    ...page
      .slice(page.indexOf('\n## Keys\n'), page.indexOf('\n### Renewal\n'))
      .matchAll(/^\| `([^`]+)`\s*\| (.*?)\s*\|/gm),
  ].map(([, file = '', seen = '']) => [file, seen]),
);
const services = ['inventory', 'detector', 'provisioner', 'fencer', 'gateway', 'nats'];
const unit = (name: string): string =>
  readFileSync(join(root, 'deploy', 'systemd', `muster-control-${name}.service`), 'utf8');
/** Files and folders below /etc/muster that a service is shown. */
const shown = (service: string): string[] =>
  [...unit(service).matchAll(/^BindReadOnlyPaths=(.*)$/gm)].flatMap(([, list = '']) =>
    list.split(' ').map((path) => path.replace(/^-?\/etc\/muster\//, '')),
  );
const seers = (file: string): string[] =>
  services.filter((s) => shown(s).some((path) => file === path || file === `${path}/` || file.startsWith(`${path}/`)));

describe('the table of keys in docs/security.md', () => {
  const dir = mkdtempSync(join(tmpdir(), 'muster-keys-'));
  let files: string[];
  beforeAll(async () => {
    await initCluster(dir, {
      cluster: 'spec',
      agents: ['n1'],
      natsListen: ['10.0.0.1:4222'],
      storeDir: join(dir, 'nats'),
    });
    await addToolUser(dir, 'billing', 'viewer');
    files = readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
      .map((file) => file.replace('agent=n1', 'agent=NODE').replace('tool=billing', 'tool=NAME'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  it('has every file that muster init writes, and beside them what people make themselves', () => {
    expect([...rows.keys()].sort()).toEqual([...files, 'tokens.json', 'ssh/', 'http-key/'].sort());
  });

  it('names just those services that the units show each to', () => {
    const wrong: string[] = [];
    for (const [file, seen] of rows) {
      const named = services.filter((service) => seen.includes(`\`${service}\``)).sort();
      const really = seers(file).sort();
      if (seen === 'every service') {
        if (!readFileSync(join(root, 'deploy/systemd/muster-control-.service.d/10-common.conf'), 'utf8').includes(file))
          wrong.push(`${file}: not every service sees it`);
      } else if (named.join() !== really.join()) wrong.push(`${file}: ${really.join(' ') || 'nobody'}`);
      else if ((seen === 'nobody') !== (really.length === 0)) wrong.push(`${file}: "${seen}"`);
    }
    expect(wrong).toEqual([]);
  });
});
