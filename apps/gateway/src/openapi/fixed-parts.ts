import { ErrorCodes } from '#contracts';
import type { Schema } from './schemas.js';

export const problemSchema: Schema = {
  type: 'object',
  description: 'RFC 9457; facts of the error stand beside these members',
  required: ['type', 'title', 'status', 'code', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: Object.keys(ErrorCodes) },
    detail: { type: 'string' },
  },
};

const names: Schema = { type: 'array', items: { type: 'string' } };

/** Body of a POST on the clusterm surface: what is unknown, null or in another case is tolerated. */
export const clustermBody: Schema = {
  type: 'object',
  properties: {
    nodes: names,
    addresses: { ...names, description: 'also `addrs`' },
    host_group: { type: 'string' },
    extra_vars: { type: ['object', 'string'], description: 'an object, or a text that holds one' },
    force: { type: 'boolean', description: 'move workloads away first' },
    monitor_event: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        nodes: {
          type: 'array',
          items: {
            type: 'object',
            properties: { label: { type: 'string' }, serial: { type: 'string' }, addr: { type: 'string' } },
          },
        },
      },
    },
  },
};

export const clustermConfig: Schema = {
  type: 'object',
  properties: { config: { type: 'object', description: 'merged onto what holds now; only `ansible` may change' } },
};

export const tags = [
  { name: 'status', description: 'The whole on one page' },
  { name: 'nodes', description: 'Machines of the fleet' },
  { name: 'operations', description: 'Long work on sets of nodes' },
  { name: 'jobs', description: 'Operations that were accepted' },
  { name: 'claims', description: 'Nodes that schedulers hold' },
  { name: 'incidents', description: 'Fencings, with everything that led to them' },
  { name: 'storms', description: 'Nodes that fell silent together: held back from fencing until they have healed' },
  { name: 'fencing', description: 'Mode, pause and limits of automatic fencing' },
  { name: 'workloads', description: 'What runs on nodes, and where' },
  { name: 'alarms', description: 'What a person should look at' },
  { name: 'events', description: 'Every step, as a list or a stream' },
  { name: 'settings', description: 'Settings of the cluster' },
  { name: 'agents', description: 'Hosts that enrol themselves' },
  { name: 'records', description: 'Stored records that cannot be read' },
  { name: 'tokens', description: 'Who may use this API' },
  { name: 'health', description: 'For supervisors and monitoring' },
  { name: 'clusterm', description: 'Paths, bodies and texts of the contiv cluster manager' },
];
