/** What gives the machine's own time and chance; who gets them handed in can be played. */
const ofTheMachine = ['systemClock', 'systemRandom'];

/** oxlint has no rule of its own for `new Date()` and `Date()`, which read the machine's clock; `new Date(ms)` does not. */
const report = (context, node) =>
  context.report({
    node,
    message: "ask the Clock of the bus or of the service's context, which a simulation plays: new Date(clock.wallMs())",
  });
const isDate = (node) => node.type === 'Identifier' && node.name === 'Date';

export default {
  meta: { name: 'clock' },
  rules: {
    'no-clock-of-the-machine': {
      create: (context) => ({
        ImportSpecifier(node) {
          if (ofTheMachine.includes(node.imported.name))
            context.report({ node, message: `${node.imported.name} is handed in by whoever starts the process` });
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
      }),
    },
  },
};
