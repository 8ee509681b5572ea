import type { Command } from 'commander';
import { does, examples, type Run } from '../command/command.js';
import { expectFirst, expectOne, expectSome, fetchText, inOldWords, post, printJson } from './old-exchange.js';
import { goLines } from './go-text.js';

interface PostOptions {
  extraVars: string;
  hostGroup?: string;
}

interface OldNode {
  monitoring_state: object;
  inventory_state: { name: string };
  configuration_state: object;
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
    // The wrong number of names is told in the old words, so the parser takes any.
    const one = node.command(`${verb} [name...]`).alias(letter).description(description);
    examples(
      does(withOptions(one, verb), (run, names: string[], o: PostOptions) =>
        post(run, `${verb}/node/${expectOne(names)}`, requestOf(o)),
      ),
      `node ${verb} host1-SN1`,
    );
    const many = nodes.command(`${verb} [names...]`).alias(letter).description(description);
    examples(
      does(withOptions(many, verb), (run, names: string[], o: PostOptions) => {
        expectSome(names);
        return post(run, `${verb}/nodes`, { nodes: names, ...requestOf(o) });
      }),
      `nodes ${verb} host1-SN1 host2-SN2`,
    );
  }
  examples(
    does(
      node
        .command('get [name...]')
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
const requestOf = (o: PostOptions): { host_group?: string; extra_vars: string } => ({
  ...(o.hostGroup !== undefined && { host_group: o.hostGroup }),
  extra_vars: o.extraVars,
});

async function getNode(run: Run, names: string[], o: { json?: boolean }): Promise<void> {
  const text = await fetchText(run, `info/node/${expectFirst(names)}`);
  if (o.json === true) return printJson(run, text);
  printNode(run, JSON.parse(text) as OldNode);
}

async function getNodes(run: Run, names: string[], o: { json?: boolean }): Promise<void> {
  const query = names.length === 0 ? '' : `?${new URLSearchParams({ nodes: names.join(',') }).toString()}`;
  const text = await inOldWords('info/nodes', undefined, () => run.server.text(`/info/nodes${query}`));
  if (o.json === true) return printJson(run, text);
  const nodes = Object.entries(JSON.parse(text) as Record<string, OldNode>);
  for (const [, node] of nodes.sort(([a], [b]) => (a < b ? -1 : 1))) printNode(run, node);
}

/** Each line with the name in front, so that grep finds whole facts; an empty one at the end. */
function printNode(run: Run, node: OldNode): void {
  const { name } = node.inventory_state;
  const sections: [string, object][] = [
    ['Inventory State', node.inventory_state],
    ['Monitoring State', node.monitoring_state],
    ['Configuration State', node.configuration_state],
  ];
  for (const [title, facts] of sections)
    for (const line of [`${name}: ${title}`, ...goLines(facts, `${name}:    `)]) run.terminal.line(line);
  run.terminal.line();
}
