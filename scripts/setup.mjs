#!/usr/bin/env node
/**
 * Makes this folder ready to run, and says nothing when it is: node packages from the lock, the tools that the
 * command needs, a fresh build. Run first by `npm run demo`, `npm test`, `npm run lab`, `npm start`. It has no
 * dependencies of its own, and all of its output goes to stderr, so that a command's stdout stays its own.
 *
 *   node scripts/setup.mjs [--for build|start|lab|test|long|bench|failover|compose]
 *
 * Exit codes: 0 ready; 1 something is missing, named in one line; 2 wrong option.
 */
const say = (line) => process.stderr.write(`setup: ${line}\n`);
const stop = (line, code = 1) => {
  say(line);
  process.exit(code);
};

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19))
  stop(`Node ${process.versions.node} is too old: Muster needs Node 20.19 or newer.`);

const purposes = ['build', 'start', 'lab', 'test', 'long', 'bench', 'failover', 'compose'];
let purpose = 'test';
const args = process.argv.slice(2);
while (args.length > 0) {
  const option = args.shift();
  if (option !== '--for') stop(`unknown option ${option}; known: --for ${purposes.join('|')}`, 2);
  purpose = args.shift() ?? '';
  if (!purposes.includes(purpose)) stop(`--for takes one of ${purposes.join(', ')}`, 2);
}

// Imported only now, so that an old Node gets its one clear line instead of a syntax error.
const { inTurn } = await import('./setup/turn.mjs');
const { installNodePackages } = await import('./setup/node-packages.mjs');
const { installTools } = await import('./setup/tools.mjs');
const { build } = await import('./setup/build.mjs');

try {
  await inTurn(say, async () => {
    await installTools(purpose, say);
    await installNodePackages(say);
    await build(say);
  });
} catch (error) {
  stop(error.message);
}
