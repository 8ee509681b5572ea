import type { Command } from 'commander';
import { cordonCommands } from './cordons.js';
import { fenceCommand } from './fence.js';
import { getCommands } from './get.js';
import { discoverCommand, operationCommands } from './operations.js';
import { pastCommands } from './past.js';
import { powerDeviceCommands } from './power-devices.js';
import { powerCommands } from './power.js';
import { recordCommands } from './records.js';
import { transferCommands } from './transfer.js';

export function nodesCommands(program: Command): void {
  const nodes = program.command('nodes').description('several nodes at once');
  const node = program.command('node').description('one node');
  getCommands(node, nodes);
  operationCommands(node, nodes);
  discoverCommand(nodes, 'nodes discover');
  transferCommands(nodes);
  recordCommands(node);
  cordonCommands(node);
  powerCommands(node);
  powerDeviceCommands(node);
  fenceCommand(node);
  pastCommands(node);
  discoverCommand(program, 'discover');
}
