/** What gives the machine's own time and chance; who gets them handed in can be played. */
const ofTheMachine = ['systemClock', 'systemRandom'];

/** What gives time and chance under another name than the rules for globals know. */
const ofGlobalThis = ['AbortSignal', 'Date', 'Math', 'crypto', 'performance', 'process', 'setTimeout'];
const nameOf = (node) => node.name ?? node.value;

/** oxlint has no rule of its own for `new Date()` and `Date()`, which read the machine's clock; `new Date(ms)` does not. */
const report = (context, node) =>
  context.report({
    node,
    message: "ask the Clock of the bus or of the service's context, which a simulation plays: new Date(clock.wallMs())",
  });
const reportOwner = (context, node, name) => {
  if (ofTheMachine.includes(name))
    context.report({ node, message: `${name} is handed in by whoever starts the process` });
};
const isDate = (node) => node.type === 'Identifier' && node.name === 'Date';

export default {
  meta: { name: 'clock' },
  rules: {
    'no-clock-of-the-machine': {
      create: (context) => ({
        ImportSpecifier(node) {
          reportOwner(context, node, nameOf(node.imported));
        },
        ExportSpecifier(node) {
          reportOwner(context, node, nameOf(node.local));
        },
        MemberExpression(node) {
          reportOwner(context, node, nameOf(node.property));
          if (node.object.name === 'globalThis' && ofGlobalThis.includes(nameOf(node.property))) report(context, node);
        },
      }),
    },
    'no-date-of-now': {
      create: (context) => ({
        NewExpression(node) {
          if (isDate(node.callee) && node.arguments.length === 0) report(context, node);
        },
        CallExpression(node) {
          if (isDate(node.callee)) report(context, node);
        },
        // Under another name, or handed on.
        VariableDeclarator(node) {
          if (node.init !== null && isDate(node.init)) report(context, node);
        },
      }),
    },
  },
};
