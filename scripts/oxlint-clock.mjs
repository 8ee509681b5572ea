/** What gives the machine's own time and chance; who gets them handed in can be played. */
const ofTheMachine = ['systemClock', 'systemRandom'];
const nameOf = (node) => node.name ?? node.value;

const reportOwner = (context, node, name) => {
  if (ofTheMachine.includes(name))
    context.report({ node, message: `${name} is handed in by whoever starts the process` });
};

/** oxlint's rules for properties know `Date.now` and `Math.random` by these names alone. */
const byAnotherName = new Map([
  ['Date', "ask the Clock of the bus or of the service's context, which a simulation plays: new Date(clock.wallMs())"],
  ['Math', "draw it from the Random of the bus or of the service's context, which a simulation plays"],
]);

/** As the owner of what is named right there, as a type, or as the name of something else. */
function isHarmless(node) {
  const { parent } = node;
  if (parent.type.startsWith('TS')) return true;
  if (parent.type === 'MemberExpression') return true;
  if (parent.type === 'BinaryExpression') return parent.operator === 'instanceof';
  if (parent.type === 'Property' || parent.type === 'PropertyDefinition' || parent.type === 'MethodDefinition')
    return parent.key === node && parent.value !== node && !parent.shorthand;
  return false;
}

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
        },
      }),
    },
    /** `new Date()` and `Date()` read the machine's clock, `new Date(ms)` does not; handed on, `Date` and `Math` are read elsewhere. */
    'no-date-of-now': {
      create: (context) => ({
        Identifier(node) {
          const message = byAnotherName.get(node.name);
          if (message === undefined || isHarmless(node)) return;
          const { parent } = node;
          if (parent.type === 'NewExpression' && parent.callee === node && parent.arguments.length > 0) return;
          context.report({ node, message });
        },
      }),
    },
  },
};
