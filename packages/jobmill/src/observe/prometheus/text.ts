/** The Prometheus text format, version 0.0.4: families of samples, each after its help and type. */
import { boundOf, type Histogram } from '../../job/metric-data.ts'

export interface Sample {
  /** Only for histograms. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
  readonly labels?: Labels
  readonly value: number
}

export type Labels = Readonly<Record<string, string>>

export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: readonly Sample[]
}

/** The prefix of every built-in family. */
export const PREFIX = 'jobmill_'

/** A number is a family with one sample. Null and undefined: the value is not known. */
type Values = readonly Sample[] | number | null | undefined

const ofType =
  (type: Family['type']) =>
  (name: string, help: string, values: Values): Family => ({
    name: `${PREFIX}${name}`,
    type,
    help,
    samples: typeof values === 'number' ? [{ value: values }] : (values ?? []),
  })

/** Built-in families: a name without the prefix, a help text and samples. */
export const counter = ofType('counter')
export const gauge = ofType('gauge')
export const histogram = ofType('histogram')

/** Families without samples are left out. */
export function exposition(families: readonly Family[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(familyText)
    .join('')
}

function familyText({ name, type, help, samples }: Family): string {
  const lines = samples.map(
    ({ suffix = '', labels = {}, value }) => `${name}${suffix}${labelText(labels)} ${numberText(value)}`,
  )
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${lines.join('\n')}\n`
}

/** Empty values are left out, because Prometheus treats them as absent. */
function labelText(labels: Labels): string {
  const pairs = Object.entries(labels)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}="${escaped(value).replaceAll('"', String.raw`\"`)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/** Names come from users and paths, and must not break the line format. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('\n', String.raw`\n`)
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

const BOUNDS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800,
] as const

/**
 * Converts internal histograms, whose bounds grow by 4%, to Prometheus: cumulative, at a few fixed bounds. A
 * value within 4% of a bound may count as above it. Sum and count are exact.
 */
export function histogramSamples(labels: Labels, histogram: Histogram = {}, sumMs = 0): Sample[] {
  const buckets = Object.entries(histogram)
    .map(([bucket, n]) => ({ upToMs: boundOf(Number(bucket)), n }))
    .toSorted((a, b) => a.upToMs - b.upToMs)
  let at = 0
  const upTo = (ms: number): number => {
    let count = 0
    for (let next = buckets[at]; next !== undefined && next.upToMs <= ms; next = buckets[(at += 1)])
      count += next.n
    return count
  }
  const counts = [...BOUNDS_S, Number.POSITIVE_INFINITY].map((bound) => upTo(bound * 1_000))
  return bucketSamples(labels, BOUNDS_S, counts, sumMs / 1_000)
}

/** Each bound counts the values up to it. `counts` has one more number, for the values above all bounds. */
export function bucketSamples(
  labels: Labels,
  bounds: readonly number[],
  counts: readonly number[],
  sum: number,
): Sample[] {
  let count = 0
  const buckets = counts.map((n, at): Sample => {
    count += n
    return { suffix: '_bucket', labels: { ...labels, le: String(bounds[at] ?? '+Inf') }, value: count }
  })
  return [...buckets, { suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: count }]
}
