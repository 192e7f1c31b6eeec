// Evaluates a Prometheus expression on the samples of a test. Supports only what our alerts on uploads use:
// sum by, increase, a comparison with a number, and unless on. Throws at anything else.
import { parser } from '@prometheus-io/lezer-promql'

type Node = ReturnType<typeof parser.parse>['topNode']

/** All samples of one scrape. */
export interface Scrape {
  readonly atMs: number
  readonly samples: readonly {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly value: number
  }[]
}

interface Value {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const HOUR_MS = 3_600_000

/** Evaluates the expression at the given time. The result is the series for which an alert fires. */
export function evaluate(query: string, scrapes: readonly Scrape[], atMs: number): Value[] {
  const text = (node: Node | null): string => (node === null ? '' : query.slice(node.from, node.to))
  const child = (node: Node, name: string): Node => {
    const found = node.getChild(name)
    if (found === null) throw new Error(`no ${name} in ${text(node)}`)
    return found
  }
  const labelsIn = (node: Node): string[] => child(node, 'GroupingLabels').getChildren('LabelName').map(text)

  function valuesOf(node: Node): Value[] {
    if (node.type.name === 'BinaryExpr') return binary(node)
    if (node.type.name === 'AggregateExpr') return aggregate(node)
    if (node.type.name === 'FunctionCall') return increase(node)
    throw new Error(`cannot evaluate ${node.type.name}: ${text(node)}`)
  }

  function binary(node: Node): Value[] {
    const [left, right] = [node.firstChild, node.lastChild]
    if (left === null || right === null) throw new Error(`incomplete expression: ${text(node)}`)
    if (node.getChild('Gtr') !== null) {
      const bound = Number(text(right))
      if (Number.isNaN(bound)) throw new Error(`no number: ${text(right)}`)
      return valuesOf(left).filter(({ value }) => value > bound)
    }
    child(node, 'Unless')
    const by = keyBy(labelsIn(child(node, 'MatchingModifierClause')))
    const others = new Set(valuesOf(right).map(({ labels }) => by(labels)))
    return valuesOf(left).filter(({ labels }) => !others.has(by(labels)))
  }

  function aggregate(node: Node): Value[] {
    child(child(node, 'AggregateOp'), 'Sum')
    const names = labelsIn(child(node, 'AggregateModifier'))
    const inner = child(node, 'FunctionCallBody').firstChild
    if (inner === null) throw new Error(`empty sum: ${text(node)}`)
    const groups = Map.groupBy(valuesOf(inner), ({ labels }) => keyBy(names)(labels))
    return [...groups.values()].map((group) => ({
      labels: Object.fromEntries(names.map((name) => [name, group[0]?.labels[name] ?? ''])),
      value: group.reduce((sum, { value }) => sum + value, 0),
    }))
  }

  /**
   * Like Prometheus, needs two samples: a series that starts above zero has not increased. A counter that
   * decreases was reset.
   */
  function increase(node: Node): Value[] {
    child(child(node, 'FunctionIdentifier'), 'Increase')
    const matrix = child(child(node, 'FunctionCallBody'), 'MatrixSelector')
    const hours = /^(\d+)h$/.exec(text(child(matrix, 'DurationExpr')))?.[1]
    if (hours === undefined) throw new Error(`no hours: ${text(matrix)}`)
    const sinceMs = atMs - Number(hours) * HOUR_MS
    const series = new Map<string, { labels: Value['labels']; values: number[] }>()
    for (const scrape of scrapes)
      if (scrape.atMs >= sinceMs && scrape.atMs <= atMs)
        for (const { labels, value } of scrape.samples.filter(matching(child(matrix, 'VectorSelector')))) {
          const key = keyBy(Object.keys(labels).toSorted())(labels)
          const one = series.get(key) ?? { labels, values: [] }
          one.values.push(value)
          series.set(key, one)
        }
    return [...series.values()]
      .filter(({ values }) => values.length > 1)
      .map(({ labels, values }) => ({ labels, value: grown(values) }))
  }

  function matching(node: Node): (sample: Scrape['samples'][number]) => boolean {
    const wanted = (node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []).map((one) => {
      child(child(one, 'MatchOp'), 'EqlSingle')
      return [text(child(one, 'LabelName')), text(child(one, 'StringLiteral')).slice(1, -1)] as const
    })
    const name = text(child(node, 'Identifier'))
    return (sample) =>
      sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value)
  }

  const root = parser.parse(query).topNode.firstChild
  if (root === null) throw new Error(`selects no metric: ${query}`)
  return valuesOf(root)
}

function keyBy(names: readonly string[]): (labels: Value['labels']) => string {
  return (labels) => JSON.stringify(names.map((name) => [name, labels[name] ?? '']))
}

function grown(values: readonly number[]): number {
  return values.slice(1).reduce((sum, value, n) => {
    const before = values[n] ?? 0
    return sum + (value < before ? value : value - before)
  }, 0)
}
