import { request } from 'node:http';
import { execaSync } from 'execa';

/**
 * Vitest's global set-up: decides once per run where specs get their nats-server from, and says so. A Docker engine that
 * answers and has (or can pull) the image: containers by @testcontainers/nats; otherwise the system's nats-server.
 * `MUSTER_TEST_NATS=docker|system` decides beforehand, `NATS_IMAGE` names the image.
 */
export default async function chooseNats() {
  const image = process.env.NATS_IMAGE ?? 'nats:2.12-alpine';
  const wanted = process.env.MUSTER_TEST_NATS;
  const lacking = wanted === 'system' ? 'as asked' : await dockerLacks(image);
  if (wanted === 'docker' && lacking !== undefined) throw new Error(`MUSTER_TEST_NATS=docker: ${lacking}`);
  process.env.MUSTER_TEST_NATS = lacking === undefined ? 'docker' : 'system';
  process.env.NATS_IMAGE = image;
  process.stderr.write(
    lacking === undefined
      ? `specs run against ${image} in containers\n`
      : `specs run against the system's ${systemServer()} (${lacking})\n`,
  );
}

function systemServer() {
  try {
    return execaSync('nats-server', ['--version']).stdout;
  } catch (cause) {
    throw new Error('nats-server is missing, and no Docker engine answers: npm run setup', { cause });
  }
}

/** Why containers cannot be used; undefined when they can. */
async function dockerLacks(image) {
  if ((await docker('GET', '/_ping')) !== 200) return 'no Docker engine answers';
  if ((await docker('GET', `/images/${encodeURIComponent(image)}/json`)) === 200) return undefined;
  process.stderr.write(`specs: pulling ${image} (2 min at most; MUSTER_TEST_NATS=system does without containers)\n`);
  await docker('POST', `/images/create?fromImage=${encodeURIComponent(image)}`, 120_000);
  const there = (await docker('GET', `/images/${encodeURIComponent(image)}/json`)) === 200;
  return there ? undefined : `a Docker engine answers, but image ${image} cannot be pulled`;
}

/** Status of the answer; 0 where there is none. */
function docker(method, path, timeout = 2000) {
  const host = new URL(process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock');
  const where = host.protocol === 'unix:' ? { socketPath: host.pathname } : { host: host.hostname, port: host.port };
  return new Promise((resolve) => {
    const asking = request({ ...where, method, path, timeout }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    asking.on('timeout', () => asking.destroy());
    asking.on('error', () => resolve(0));
    asking.end();
  });
}
