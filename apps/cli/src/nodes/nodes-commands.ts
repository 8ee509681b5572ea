import type { Command } from 'commander';
import { examples } from '../command/command.js';
import { cordonCommands } from './cordons.js';
import { drillCommand } from './drill.js';
import { fenceCommand } from './fence.js';
import { getCommands } from './get.js';
import { discoverCommand, operationCommands } from './operations.js';
import { pastCommands } from './past.js';
import { powerDeviceCommands } from './power-devices.js';
import { powerCommands } from './power.js';
import { recordCommands } from './records.js';
import { releaseCommand } from './release.js';
import { lifeSignCommand } from './life-sign.js';
import { revokeCommand } from './revoke.js';
import { transferCommands } from './transfer.js';
import { whyCommand } from './why.js';

export function nodesCommands(program: Command): void {
  const nodes = examples(
    program.command('nodes').description('several nodes at once'),
    'nodes get',
    'nodes commission host1-SN1 host2-SN2 --wait',
  );
  const node = examples(
    program.command('node').description('one node'),
    'node get host1-SN1',
    'node cordon host1-SN1 --reason "disk swap"',
  );
  getCommands(node, nodes);
  operationCommands(node, nodes);
  discoverCommand(nodes, 'nodes discover');
  transferCommands(nodes);
  recordCommands(node);
  cordonCommands(node);
  powerCommands(node);
  powerDeviceCommands(node);
  fenceCommand(node);
  drillCommand(node);
  releaseCommand(node);
  lifeSignCommand(node);
  revokeCommand(node);
  whyCommand(node);
  pastCommands(node);
  discoverCommand(program, 'discover');
}
