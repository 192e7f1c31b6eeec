/**
 * A strict parser of the Prometheus text format: what it accepts, every scraper accepts. Throws with the
 * wrong line.
 */

interface ReadSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface ReadFamily {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly samples: readonly ReadSample[]
}

const HELP = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\\n]|\\\\|\\n)+)$/
const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,(?=[a-zA-Z_])|$)/
const NUMBER = /^(?:[+-]Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/

export function readExposition(text: string): Map<string, ReadFamily> {
  if (!text.endsWith('\n') || text.endsWith('\n\n')) throw new Error('does not end with one line feed')
  const lines = text.slice(0, -1).split('\n')
  const families = new Map<string, ReadFamily>()
  const seen = new Set<string>()
  for (let at = 0; at < lines.length;) {
    const [, name = '', help = ''] = HELP.exec(lines[at] ?? '') ?? fail(lines[at], 'a HELP was due')
    const [, named, type = ''] = TYPE.exec(lines[at + 1] ?? '') ?? fail(lines[at + 1], 'a TYPE was due')
    if (named !== name) fail(lines[at + 1], 'is the TYPE of another family')
    if (families.has(name)) fail(lines[at], 'is there twice')
    const samples: ReadSample[] = []
    for (at += 2; at < lines.length && !lines[at]?.startsWith('#'); at += 1) {
      const sample = sampleOf(lines[at] ?? '', { name, type })
      const key = keyOf(sample)
      if (seen.has(key)) fail(lines[at], 'is there twice')
      seen.add(key)
      samples.push(sample)
    }
    if (samples.length === 0) fail(name, 'has no samples')
    const family = { name, type, help, samples }
    checkFamily(family)
    families.set(name, family)
  }
  return families
}

/** The value of one series; undefined when there is none. */
export function valueOf(
  families: ReadonlyMap<string, ReadFamily>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const key = keyOf({ name, labels, value: 0 })
  const all = [...families.values()].flatMap(({ samples }) => samples)
  return all.find((sample) => keyOf(sample) === key)?.value
}

/** Series that decreased or disappeared since `before`; empty when there are none. */
export function fallen(
  before: ReadonlyMap<string, number>,
  now: ReadonlyMap<string, number>,
): [string, number, number | undefined][] {
  return [...before].flatMap(([series, value]) => {
    const after = now.get(series)
    return after !== undefined && after >= value ? [] : [[series, value, after]]
  })
}

/** Every series that must never decrease: counters, and all parts of histograms. */
export function cumulative(families: ReadonlyMap<string, ReadFamily>): Map<string, number> {
  const all = [...families.values()].filter(({ type }) => type !== 'gauge')
  return new Map(
    all.flatMap(({ samples }) => samples.map((sample) => [keyOf(sample), sample.value] as const)),
  )
}

function keyOf({ name, labels }: ReadSample): string {
  return JSON.stringify([name, Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

function sampleOf(line: string, { name, type }: { name: string; type: string }): ReadSample {
  const [, full = '', labels = '', value = ''] = SAMPLE.exec(line) ?? fail(line, 'is not a sample')
  const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
  if (!suffixes.some((suffix) => full === name + suffix)) fail(line, `does not belong to ${name}`)
  if (!NUMBER.test(value)) fail(line, 'has no number')
  return { name: full, labels: labelsOf(labels, line), value: Number(value.replace('Inf', 'Infinity')) }
}

function labelsOf(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (let left = text; left !== '';) {
    const [whole, name = '', value = ''] = LABEL.exec(left) ?? fail(line, 'has a label that is none')
    if (Object.hasOwn(labels, name)) fail(line, 'has a label twice')
    labels[name] = value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped))
    left = left.slice(whole.length)
  }
  return labels
}

function checkFamily(family: ReadFamily): void {
  const { name, type, samples } = family
  if ((type === 'counter') !== name.endsWith('_total')) fail(name, 'is named as what it is not')
  if (type !== 'gauge' && samples.some(({ value }) => !(value >= 0))) fail(name, 'is below zero')
  if (type === 'histogram') for (const one of Map.groupBy(samples, seriesOf).values()) checkHistogram(one)
}

function seriesOf({ labels }: ReadSample): string {
  return keyOf({ name: '', labels: { ...labels, le: '' }, value: 0 })
}

function checkHistogram(samples: readonly ReadSample[]): void {
  const ending = (suffix: string) => samples.filter(({ name }) => name.endsWith(suffix))
  const [buckets, sums, counts] = [ending('_bucket'), ending('_sum'), ending('_count')]
  const name = sums[0]?.name ?? 'a histogram'
  if (sums.length !== 1 || counts.length !== 1) fail(name, 'has not one sum and one count')
  const bounds = buckets.map(({ labels }) => Number(labels['le']?.replace('Inf', 'Infinity')))
  if (bounds.at(-1) !== Infinity || buckets.at(-1)?.value !== counts[0]?.value)
    fail(name, 'does not end with all')
  for (let at = 1; at < buckets.length; at += 1) {
    if (!((bounds[at - 1] ?? NaN) < (bounds[at] ?? NaN))) fail(name, 'has bounds that do not rise')
    if ((buckets[at - 1]?.value ?? NaN) > (buckets[at]?.value ?? NaN))
      fail(name, 'has buckets that are not cumulative')
  }
}

function fail(what: string | undefined, why: string): never {
  throw new Error(`${what ?? 'the end'}: ${why}`)
}
