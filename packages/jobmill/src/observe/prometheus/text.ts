/** The text format of Prometheus, version 0.0.4: families of samples, each with its help and its type before them. */

export interface Sample {
  /** Only of histograms. */
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

/** Of every family of ours. */
export const PREFIX = 'jobmill_'

const ofType =
  (type: Family['type']) =>
  (name: string, help: string, samples: readonly Sample[]): Family => ({
    name: `${PREFIX}${name}`,
    type,
    help,
    samples,
  })

/** Ours: each of a name without the prefix, a help and samples. */
export const counter = ofType('counter')
export const gauge = ofType('gauge')
export const histogram = ofType('histogram')

/** Families without a sample are left out. */
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

/** An empty value is as good as none, and is left out. */
function labelText(labels: Labels): string {
  const pairs = Object.entries(labels)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}="${escaped(value).replaceAll('"', String.raw`\"`)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

/** Names come from users and paths: whatever they hold, a line stays a line. */
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
