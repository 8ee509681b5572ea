import { execa } from 'execa';

/**
 * TCP ports of `address` that let somebody in who tries each of them.
 * @param enter what a command begins with that is to run where they are tried from
 */
export async function openPorts(enter: readonly [string, ...string[]], address: string): Promise<number[]> {
  const [command, ...args] = enter;
  const { stdout } = await execa(command, [...args, process.execPath, '--input-type=module', '-'], {
    input: scanner(address),
  });
  return JSON.parse(stdout) as number[];
}

/** Every port, some hundreds at a time. */
const scanner = (address: string): string => `
import { connect } from 'node:net';
const open = [];
let next = 1;
const knock = (port) => new Promise((done) => {
  const socket = connect({ host: ${JSON.stringify(address)}, port, timeout: 2000 });
  const end = () => (socket.destroy(), done());
  // A port of the moment may be the scanner's own: on one machine a socket can connect to itself.
  const found = () => (socket.localPort !== port && open.push(port), end());
  socket.once('connect', found).once('error', end).once('timeout', end);
});
await Promise.all(Array.from({ length: 300 }, async () => {
  while (next < 65536) await knock(next++);
}));
console.log(JSON.stringify(open.sort((a, b) => a - b)));
`;
