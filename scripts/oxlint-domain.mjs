import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const room = join(import.meta.dirname, '..', 'libs', 'domain', 'src');
const EXPORTED = /^export (?:async )?(?:const|function|class) (\w+)/gm;

/** What libs/domain decides: name → file. */
const decided = new Map(
  readdirSync(room, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.includes('testing/'))
    .flatMap((file) =>
      [...readFileSync(join(room, file), 'utf8').matchAll(EXPORTED)].map(([, name]) => [
        name,
        file.replace(/ts$/, 'js'),
      ]),
    ),
);

/** No app has a rule of its own under the name of one that all share: the two would drift apart. */
export default {
  meta: { name: 'domain' },
  rules: {
    'no-twin': {
      create: (context) => {
        const judge = (node, id) => {
          const file = id?.type === 'Identifier' ? decided.get(id.name) : undefined;
          if (file !== undefined)
            context.report({
              node,
              message: `${id.name} is decided by #domain/${file}: import it, or give yours its own name`,
            });
        };
        const isOfTheFile = ({ parent }) => parent.type === 'Program' || parent.type === 'ExportNamedDeclaration';
        return {
          FunctionDeclaration: (node) => isOfTheFile(node) && judge(node, node.id),
          ClassDeclaration: (node) => isOfTheFile(node) && judge(node, node.id),
          VariableDeclaration: (node) => isOfTheFile(node) && node.declarations.forEach((d) => judge(d, d.id)),
        };
      },
    },
  },
};
