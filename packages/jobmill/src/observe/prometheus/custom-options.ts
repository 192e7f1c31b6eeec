/** The options of an application metric, checked when it is registered. */
import { invalidValue, type JobmillError } from '../../job/errors.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkLabels, type CustomMetricLabels, type CustomMetricLabelValues } from './custom-labels.ts'
import { type Family, PREFIX } from './text.ts'

export interface CustomMetricOptions<L extends CustomMetricLabels = CustomMetricLabels> {
  /** The Prometheus name: letters, digits, `_` and `:`. A counter ends in `_total`. */
  readonly name: string
  /** The help text. */
  readonly help: string
  /**
   * For each label name, the list of its values, or `true` if the values are not known in advance. Each new
   * value then adds a series when it is first used, up to 1,000 series.
   */
  readonly labels?: L
}

export type CounterOptions<L extends CustomMetricLabels = CustomMetricLabels> = CustomMetricOptions<L>

export interface GaugeOptions<
  L extends CustomMetricLabels = CustomMetricLabels,
> extends CustomMetricOptions<L> {
  readonly read: () => GaugeReading<L> | Promise<GaugeReading<L>>
}

/** A number without labels, or one for each series. */
export type GaugeReading<L extends CustomMetricLabels = CustomMetricLabels> =
  | number
  | readonly { readonly labels?: CustomMetricLabelValues<L>; readonly value: number }[]

export interface HistogramOptions<
  L extends CustomMetricLabels = CustomMetricLabels,
> extends CustomMetricOptions<L> {
  /** The upper bounds, ascending. Values above the last are counted too. */
  readonly buckets: readonly number[]
}

export interface OwnCounter<L extends CustomMetricLabels = CustomMetricLabels> {
  /** Adds 1, or `n`. */
  readonly add: [L] extends [never]
    ? (labels?: Readonly<Record<string, never>>, n?: number) => void
    : (labels: CustomMetricLabelValues<L>, n?: number) => void
}

export interface OwnHistogram<L extends CustomMetricLabels = CustomMetricLabels> {
  readonly observe: [L] extends [never]
    ? (value: number, labels?: Readonly<Record<string, never>>) => void
    : (value: number, labels: CustomMetricLabelValues<L>) => void
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
/** Applications that ship with Jobmill. */
const OF_APPLICATIONS = /^jobmill_(?:telegram|uploads)_/
const NAME_CHARS = 200
const HELP_CHARS = 1_000
const MOST_BUCKETS = 100

const KEYS = {
  counter: ['name', 'help', 'labels'],
  gauge: ['name', 'help', 'labels', 'read'],
  histogram: ['name', 'help', 'labels', 'buckets'],
} as const

export function checkCustomMetric(type: Family['type'], options: CustomMetricOptions): CustomMetricOptions {
  checkObjectKeys(options, type, KEYS[type])
  const { name, help, labels = {} } = options
  if (typeof name !== 'string' || !NAME.test(name) || name.length > NAME_CHARS)
    throw badName(name, `Use at most ${NAME_CHARS} letters, digits, _ and :, and do not start with a digit`)
  if (name.startsWith(PREFIX) && !OF_APPLICATIONS.test(name))
    throw badName(name, `Use another prefix: ${PREFIX} is reserved for the metrics of Jobmill`)
  if (name.endsWith('_total') !== (type === 'counter'))
    throw badName(
      name,
      type === 'counter'
        ? 'End the name of a counter in _total'
        : 'Remove _total, which is reserved for counters',
    )
  if (typeof help !== 'string' || help.trim() === '' || help.length > HELP_CHARS) {
    const fix = `Describe what ${name} measures`
    throw invalidValue('help', help, `must be a non-blank string of at most ${HELP_CHARS} characters`, fix)
  }
  checkLabels(labels, 'labels', type === 'histogram' ? ['le'] : [])
  return options
}

function isRising(buckets: readonly number[]): boolean {
  return (
    Array.isArray(buckets) &&
    buckets.length > 0 &&
    buckets.length <= MOST_BUCKETS &&
    buckets.every(
      (bound: number, at) => Number.isFinite(bound) && (at === 0 || bound > Number(buckets[at - 1])),
    )
  )
}

export function checkBuckets(buckets: readonly number[]): readonly number[] {
  if (isRising(buckets)) return [...buckets]
  const fix = `Pass 1 to ${MOST_BUCKETS} upper bounds in ascending order; +Inf is added automatically`
  throw invalidValue('buckets', buckets, 'must be a list of ascending numbers', fix)
}

function badName(name: unknown, fix: string): JobmillError {
  return invalidValue('name', name, 'is not a valid metric name', fix, 'NAME_INVALID')
}
