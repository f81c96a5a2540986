import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

export interface Selector {
  /** Empty when the selector has only a matcher for `__name__`. */
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly op: string; readonly value: string }[];
}

/** The metrics, labels and functions in an expression. */
export interface ParsedPromql {
  readonly selectors: readonly Selector[];
  /**
   * The labels of `by`, `without`, `on`, `ignoring`, `group_left` and `group_right`, with the metrics of their
   * operands.
   */
  readonly groupings: readonly { readonly labels: readonly string[]; readonly metrics: readonly string[] }[];
  /** The labels that `label_replace`, `label_join` and `count_values` write. */
  readonly createdLabels: readonly string[];
  /** Function calls with the metrics in their arguments. */
  readonly calls: readonly { readonly name: string; readonly metrics: readonly string[] }[];
}

/** Parses an expression with the parser of the Prometheus user interface; throws for a syntax error. */
export function parsePromql(expr: string): ParsedPromql {
  const text = (node: SyntaxNode): string => expr.slice(node.from, node.to);
  const nodes = nodesOf(parser.parse(expr));
  for (const { type, from, name } of nodes) {
    if (type.isError) throw new Error(`not PromQL at ${from}: ${expr}`);
    if (name.startsWith('Quoted')) throw new Error(`quoted names are not supported: ${expr}`);
  }
  const nameOf = (selector: SyntaxNode): string => selector.getChildren('Identifier').map(text).join('');
  const metricsIn = ({ from, to }: SyntaxNode): string[] =>
    nodes.filter((node) => node.name === 'VectorSelector' && node.from >= from && node.to <= to).map(nameOf);
  const named = (name: string): SyntaxNode[] => nodes.filter((node) => node.name === name);
  return {
    selectors: named('VectorSelector').map((node) => ({
      metric: nameOf(node),
      matchers: (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((matcher) => ({
        label: text(childOf(matcher, 'LabelName')),
        op: text(childOf(matcher, 'MatchOp')),
        value: text(childOf(matcher, 'StringLiteral')).slice(1, -1),
      })),
    })),
    groupings: named('GroupingLabels').map((node) => ({
      labels: node.getChildren('LabelName').map(text),
      metrics: metricsIn(enclosing(node, ['AggregateExpr', 'BinaryExpr'])),
    })),
    createdLabels: [
      ...named('FunctionCall').filter((node) =>
        /^label_(?:replace|join)$/.test(text(childOf(node, 'FunctionIdentifier'))),
      ),
      ...named('AggregateExpr').filter((node) => text(childOf(node, 'AggregateOp')) === 'count_values'),
    ].map((node) => text(childOf(childOf(node, 'FunctionCallBody'), 'StringLiteral')).slice(1, -1)),
    calls: named('FunctionCall').map((node) => ({
      name: text(childOf(node, 'FunctionIdentifier')),
      metrics: metricsIn(node),
    })),
  };
}

function childOf(node: SyntaxNode, name: string): SyntaxNode {
  const child = node.getChild(name);
  if (child === null) throw new Error(`no ${name} in ${node.name}`);
  return child;
}

function enclosing(node: SyntaxNode, names: readonly string[]): SyntaxNode {
  for (let outer = node.parent; outer !== null; outer = outer.parent) {
    if (names.includes(outer.name)) return outer;
  }
  throw new Error(`${node.name} is in none of ${names.join(', ')}`);
}

function nodesOf(tree: Tree): SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  tree.iterate({
    enter: ({ node }) => {
      nodes.push(node);
    },
  });
  return nodes;
}
