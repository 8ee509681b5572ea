import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const room = join(import.meta.dirname, '..', 'libs', 'domain', 'src');
const EXPORTED = /^export (?:async )?(const|function|class) (\w+)(?: = (\(|async|<))?/gm;

/** What libs/domain decides: the name, with `()` where it is a function → file. */
const decided = new Map(
  readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .flatMap((file) =>
      [...readFileSync(join(room, file), 'utf8').matchAll(EXPORTED)].map(([, kind, name, opened]) => [
        kind === 'const' && opened === undefined ? name : `${name}()`,
        file.replace(/ts$/, 'js'),
      ]),
    ),
);

const jobStatuses = new Set(['Queued', 'Running', 'Complete', 'Errored']);
/** What a job's record has beside its status, and nothing else has that has one. */
const ofJobs = new Set(['startedAt', 'endedAt', 'settled']);

const nameOf = (node) => (node?.type === 'Identifier' ? node.name : node?.value);
const isJobStatus = (node) =>
  node.type === 'ConditionalExpression'
    ? isJobStatus(node.consequent) || isJobStatus(node.alternate)
    : node.type.startsWith('TS')
      ? node.expression !== undefined && isJobStatus(node.expression)
      : node.type === 'Literal' && jobStatuses.has(node.value);
const isOfJob = ({ properties }) => properties.some((p) => p.type === 'Property' && ofJobs.has(nameOf(p.key)));

const isFunction = (node) => /Function|^Class/.test(node?.type ?? '');

export default {
  meta: { name: 'domain' },
  rules: {
    /** What changes a job stands in one table: a status that is written beside it may be one that cannot be. */
    'job-status': {
      create: (context) => {
        const report = (node) =>
          context.report({ node, message: "a job's status is written by #domain/job/changes.js: jobAfter, newJob" });
        return {
          Property(node) {
            if (node.parent.type !== 'ObjectExpression' || nameOf(node.key) !== 'status') return;
            const { value } = node;
            if (isJobStatus(value) || (value.type === 'Identifier' && isOfJob(node.parent))) report(node);
          },
          AssignmentExpression(node) {
            if (nameOf(node.left.property) === 'status' && isJobStatus(node.right)) report(node);
          },
        };
      },
    },
    /** No app has a rule of its own under the name of one that all share: the two would drift apart. */
    'no-twin': {
      create: (context) => {
        const judge = (id, value) => {
          if (id?.type !== 'Identifier') return;
          const file = decided.get(isFunction(value) ? `${id.name}()` : id.name);
          if (file === undefined) return;
          const message = `${id.name} is decided by #domain/${file}: import it, or give yours its own name`;
          context.report({ node: id, message });
        };
        const isOfTheFile = ({ parent }) => parent.type === 'Program' || parent.type === 'ExportNamedDeclaration';
        return {
          FunctionDeclaration: (node) => isOfTheFile(node) && judge(node.id, node),
          ClassDeclaration: (node) => isOfTheFile(node) && judge(node.id, node),
          VariableDeclaration: (node) => isOfTheFile(node) && node.declarations.forEach((d) => judge(d.id, d.init)),
        };
      },
    },
  },
};
