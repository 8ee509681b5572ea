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

const isFunction = (node) => /Function|^Class/.test(node?.type ?? '');

/** No app has a rule of its own under the name of one that all share: the two would drift apart. */
export default {
  meta: { name: 'domain' },
  rules: {
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
