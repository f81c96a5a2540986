/** Faults that `mutants.mjs` makes in the code: where they are possible, the choice of some, and where they are in other code. */
import { createHash } from 'node:crypto';
import { parseAst } from 'vitest/node';

export const KINDS = ['comparison', 'negation', 'limit', 'dropped statement'];

const OTHER_OPERATOR = { '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' };
/** The syntax of TypeScript that contains expressions. All other is types. */
const TYPED_EXPRESSIONS = new Set(['TSAsExpression', 'TSNonNullExpression', 'TSSatisfiesExpression']);
const EXITS = new Set(['ReturnStatement', 'ContinueStatement', 'BreakStatement', 'ThrowStatement']);

/** All possible faults of a file. `mutated` replaces the code from `start` to `end`, which is `original`. */
export function faultsIn(file, source) {
  const faults = [];
  const visit = (node, parent) => {
    const fault = faultOf(node, parent, source);
    if (fault !== undefined) {
      const { start, end } = node;
      const lineStart = source.lastIndexOf('\n', start) + 1;
      const line = source.slice(0, start).split('\n').length;
      const text = source.slice(lineStart, source.indexOf('\n', start)).trim();
      faults.push({ file, line, text, start, end, original: source.slice(start, end), ...fault });
    }
    for (const child of Object.values(node).flat()) {
      const isCode =
        typeof child?.type === 'string' && (!child.type.startsWith('TS') || TYPED_EXPRESSIONS.has(child.type));
      if (isCode) visit(child, node);
    }
  };
  visit(parseAst(source, { lang: 'ts' }), undefined);
  return faults;
}

function faultOf(node, parent, source) {
  const original = source.slice(node.start, node.end);
  switch (node.type) {
    case 'BinaryExpression': {
      const { left, right, operator } = node;
      if (OTHER_OPERATOR[operator] === undefined) return undefined;
      const changed = source.slice(left.end, right.start).replace(operator, OTHER_OPERATOR[operator]);
      const mutated = source.slice(node.start, left.end) + changed + source.slice(right.start, node.end);
      return { kind: 'comparison', mutated };
    }
    case 'UnaryExpression':
      return node.operator === '!' ? { kind: 'negation', mutated: original.slice(1) } : undefined;
    case 'Literal':
      if (!/^\d/.test(original) || (parent.key ?? parent.property) === node) return undefined;
      if (node.bigint !== undefined) return { kind: 'limit', mutated: `${original} + 1n` };
      return { kind: 'limit', mutated: node.value > 10 ? `${original} * 2` : `${original} + 1` };
    case 'IfStatement':
    case 'ExpressionStatement':
      return canDrop(node, parent) ? { kind: 'dropped statement', mutated: '' } : undefined;
    default:
      return parent?.test === node && (parent.type === 'IfStatement' || parent.type === 'ConditionalExpression')
        ? { kind: 'negation', mutated: `!(${original})` }
        : undefined;
  }
}

/** Whether the statement is one of a list, and neither a branch nor required by the language. */
function canDrop(node, parent) {
  if (![parent.body, parent.type === 'SwitchCase' && parent.consequent].flat().includes(node)) return false;
  if (node.type === 'ExpressionStatement') return !node.directive && node.expression.callee?.type !== 'Super';
  const last = node.consequent.type === 'BlockStatement' ? node.consequent.body.at(-1) : node.consequent;
  return !node.alternate && EXITS.has(last?.type);
}

/** Chooses faults evenly over folders and kinds, none within another. */
export function chooseFaults(faults, { seed, count, folders }) {
  const orderOf = ({ file, start }) => createHash('sha256').update(`${seed} ${file} ${start}`).digest('hex');
  const shuffled = faults
    .map((fault) => ({ fault, order: orderOf(fault) }))
    .toSorted((a, b) => (a.order < b.order ? -1 : 1))
    .map(({ fault }) => fault);
  const chosen = [];
  const isWanted = (fault, kind, folder) =>
    fault.kind === kind && fault.file.startsWith(`src/${folder}/`) && !overlaps(fault, chosen);
  for (let round = 0; round < count; round += 1) {
    for (const folder of folders) {
      const next = shuffled.find((fault) => isWanted(fault, KINDS[round % KINDS.length], folder));
      if (next !== undefined && chosen.length < count) chosen.push(next);
    }
  }
  return chosen;
}

const overlaps = (fault, others) =>
  others.some(({ file, start, end }) => file === fault.file && start < fault.end && fault.start < end);

/** Code with less in common than this is other code. Code that was only edited or renamed in part has 0.8 and more. */
const MIN_SIMILARITY = 0.75;

/** Finds the faults in other code, where they can have moved or been edited. A fault whose code is removed is `undefined`. */
export function findAgain(wanted, faults) {
  const found = [];
  for (const fault of wanted) {
    const taken = found.filter((other) => other !== undefined);
    const [best] = faults
      .filter((other) => other.kind === fault.kind && !overlaps(other, taken))
      .map((other) => ({
        other,
        similarity: (similarityOf(other.text, fault.text) + similarityOf(other.original, fault.original)) / 2,
        distance: other.file === fault.file ? Math.abs(other.start - fault.start) : Infinity,
      }))
      .filter(({ similarity }) => similarity >= MIN_SIMILARITY)
      .toSorted((a, b) => b.similarity - a.similarity || (a.distance < b.distance ? -1 : 1));
    found.push(best?.other);
  }
  return found;
}

/** The share of words and signs that two lines have in common. */
function similarityOf(line, other) {
  const tokens = tokensOf(line);
  const others = tokensOf(other);
  const total = tokens.length + others.length;
  for (const token of tokens) {
    const index = others.indexOf(token);
    if (index !== -1) others.splice(index, 1);
  }
  return (2 * (total - tokens.length - others.length)) / total;
}

const tokensOf = (line) => line.match(/\w+|[^\w\s]/g) ?? [];
