/** The Prometheus text format, version 0.0.4: families of samples, each after its help and type. */

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

const ofType =
  (type: Family['type']) =>
  (name: string, help: string, samples: readonly Sample[]): Family => ({
    name: `${PREFIX}${name}`,
    type,
    help,
    samples,
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
