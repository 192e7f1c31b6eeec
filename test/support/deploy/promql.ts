// Parses a Prometheus expression with its own grammar: which metrics it selects by which labels, and which
// labels its result has. Throws where Prometheus would.
import { parser } from '@prometheus-io/lezer-promql'

type Node = ReturnType<typeof parser.parse>['topNode']

export interface Selector {
  readonly metric: string
  /**
   * Labels in its selector with their values; several for a|b. Labels with a dashboard variable have none.
   */
  readonly matches: readonly { readonly label: string; readonly values: readonly string[] }[]
  /** Labels in an aggregation around it, or in a match between two sides. */
  readonly grouped: readonly string[]
  /** The innermost aggregation around it, such as max; null for none. */
  readonly aggregation: string | null
  /** The innermost function around it, such as rate; null for none. */
  readonly call: string | null
}

export interface Query {
  readonly selectors: readonly Selector[]
  /**
   * The labels that legends and messages can use: those of the outermost aggregation on the left. Null
   * without one: then those of the metric.
   */
  readonly labels: readonly string[] | null
}

export function readQuery(text: string): Query {
  // Grafana substitutes these before Prometheus reads the expression.
  const query = text.replaceAll('$__rate_interval', '5m')
  const root = parser.parse(query).topNode
  const selectors: Selector[] = []
  root.cursor().iterate(({ node, type }) => {
    if (type.isError) throw new Error(`not PromQL at character ${node.from + 1}: ${query}`)
    if (type.name === 'VectorSelector') selectors.push(selectorOf(node, query))
  })
  if (selectors.length === 0) throw new Error(`selects no metric: ${query}`)
  const [first] = all(root, 'AggregateExpr')
  return { selectors, labels: first === undefined ? null : labelsOf(first, query) }
}

function selectorOf(node: Node, query: string): Selector {
  const around = parents(node)
  const inner = (name: string): Node | undefined => around.find((one) => one.type.name === name)
  const read = (one: Node | null | undefined): string | null =>
    one === null || one === undefined ? null : query.slice(one.from, one.to)
  return {
    metric: read(node.getChild('Identifier')) ?? '',
    matches: all(node, 'UnquotedLabelMatcher').map((match) => ({
      label: read(match.getChild('LabelName')) ?? '',
      values: valuesOf(read(match.getChild('StringLiteral')) ?? ''),
    })),
    grouped: around.flatMap((one) => labelsOf(one, query)),
    aggregation: read(inner('AggregateExpr')?.getChild('AggregateOp')),
    call: read(inner('FunctionCall')?.getChild('FunctionIdentifier')),
  }
}

function valuesOf(literal: string): string[] {
  const text = literal.slice(1, -1)
  return text.startsWith('$') || text.includes('.*') ? [] : text.split('|')
}

/** The `by` of an aggregation, or the `on` of a match between two sides. */
function labelsOf(node: Node, query: string): string[] {
  const clause = node.getChild('AggregateModifier') ?? node.getChild('MatchingModifierClause')
  const labels = clause?.getChild('GroupingLabels')?.getChildren('LabelName') ?? []
  return labels.map(({ from, to }) => query.slice(from, to))
}

function parents(node: Node): Node[] {
  const nodes: Node[] = []
  for (let one = node.parent; one !== null; one = one.parent) nodes.push(one)
  return nodes
}

/** In the order of the text. */
function all(node: Node, name: string): Node[] {
  const nodes: Node[] = []
  node.cursor().iterate((one) => {
    if (one.type.name === name) nodes.push(one.node)
  })
  return nodes
}
