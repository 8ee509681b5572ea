import type { Command } from 'commander';
import type { ClustermNode } from '#contracts';
import { does, examples, type Run } from '../command.js';
import { clustermLines } from '../output/clusterm-lines.js';

interface PostOptions {
  extraVars?: string;
  hostGroup?: string;
}

export const EXTRA_VARS = ['-e, --extra-vars <json>', 'extra vars for ansible, a quoted JSON object', ''] as const;
export const JSON_OUTPUT = ['-j, --json', 'print command output in JSON'] as const;

const operations = [
  ['commission', 'c', 'bring into a host group'],
  ['decommission', 'd', 'clean up and take out'],
  ['update', 'u', 'cleanup, then site'],
  ['maintenance', 'm', 'the same as update'],
] as const;

export function nodeCommands(program: Command): void {
  const node = examples(program.command('node').alias('n').description('node related operation'), 'node get host1-SN1');
  const nodes = examples(program.command('nodes').alias('a').description('all nodes related operation'), 'nodes get');
  for (const [verb, letter, description] of operations) {
    const one = node.command(`${verb} <name>`).alias(letter).description(description);
    examples(
      does(withOptions(one, verb), (run, name: string, o: PostOptions) =>
        post(run, `/${verb}/node/${encodeURIComponent(name)}`, {}, o),
      ),
      `node ${verb} host1-SN1`,
    );
    const many = nodes.command(`${verb} <names...>`).alias(letter).description(description);
    examples(
      does(withOptions(many, verb), (run, names: string[], o: PostOptions) =>
        post(run, `/${verb}/nodes`, { nodes: names }, o),
      ),
      `nodes ${verb} host1-SN1 host2-SN2`,
    );
  }
  examples(
    does(
      node
        .command('get <name>')
        .alias('g')
        .description("node's status information")
        .option(...JSON_OUTPUT),
      getNode,
    ),
    'node get host1-SN1',
  );
  examples(
    does(
      nodes
        .command('get [names...]')
        .alias('g')
        .description('status of all nodes')
        .option(...JSON_OUTPUT),
      getNodes,
    ),
    'nodes get',
  );
}

function withOptions(command: Command, verb: string): Command {
  if (verb !== 'decommission') command.option('-g, --host-group <group>', 'host group of the node(s)');
  return command.option(...EXTRA_VARS);
}

/** Extra vars go out as they were given: what is wrong with them is the server's to say, in its old words. */
async function post(run: Run, path: string, body: object, o: PostOptions): Promise<void> {
  await run.server.post(path, { ...body, extra_vars: o.extraVars, host_group: o.hostGroup });
}

async function getNode(run: Run, name: string, o: { json?: boolean }): Promise<void> {
  const node = await run.server.get<ClustermNode>(`/info/node/${encodeURIComponent(name)}`);
  show(run, node, [node], o.json);
}

async function getNodes(run: Run, names: string[], o: { json?: boolean }): Promise<void> {
  const query = names.length === 0 ? '' : `?${new URLSearchParams({ nodes: names.join(',') }).toString()}`;
  const nodes = await run.server.get<Record<string, ClustermNode>>(`/info/nodes${query}`);
  const sorted = Object.entries(nodes).sort(([a], [b]) => (a < b ? -1 : 1));
  show(
    run,
    nodes,
    sorted.map(([, node]) => node),
    o.json,
  );
}

function show(run: Run, answer: unknown, nodes: ClustermNode[], json = false): void {
  if (json) return printJson(run, answer);
  for (const line of nodes.flatMap(clustermLines)) run.terminal.line(line);
}

/** Four spaces, as the old program indented it. */
export const printJson = (run: Run, value: unknown): void => run.terminal.line(JSON.stringify(value, undefined, 4));
