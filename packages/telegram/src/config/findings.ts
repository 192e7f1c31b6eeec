/** Collects everything that is wrong with a config, so that nobody has to mend it one error at a time. */
import { durationMs, isJobmillError } from 'jobmill'
import { isMap, LineCounter, parseDocument, type Document } from 'yaml'
import type { Problem } from './config.ts'

export interface Findings {
  readonly problems: Problem[]
  readonly error: (place: string, problem: string, fix: string) => void
  readonly warn: (place: string, problem: string, fix: string) => void
}

export function findings(): Findings {
  const problems: Problem[] = []
  return {
    problems,
    error: (place, problem, fix) => void problems.push({ level: 'error', place, problem, fix }),
    warn: (place, problem, fix) => void problems.push({ level: 'warning', place, problem, fix }),
  }
}

/** A map of the YAML, whose values are asked for by name; what nobody asked for is reported. */
export class Section {
  readonly path: string
  readonly #values: Readonly<Record<string, unknown>>
  readonly #found: Findings
  readonly #lineOf: (path: string) => string
  readonly #asked = new Set<string>()

  constructor(path: string, value: unknown, found: Findings, lineOf: (path: string) => string) {
    this.path = path
    this.#found = found
    this.#lineOf = lineOf
    const isSection = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (value !== undefined && value !== null && !isSection)
      found.error(
        this.at(),
        `is ${typeOf(value)}, and names with values are expected`,
        'Indent its settings below it',
      )
    this.#values = isSection ? (value as Record<string, unknown>) : {}
  }

  at(name?: string): string {
    const path = [this.path, name].filter((part) => part !== undefined && part !== '').join('.')
    return `${path}${this.#lineOf(path)}`
  }

  get(name: string): unknown {
    this.#asked.add(name)
    return this.#values[name] ?? undefined
  }

  get names(): string[] {
    return Object.keys(this.#values)
  }

  section(name: string): Section {
    const path = this.path === '' ? name : `${this.path}.${name}`
    return new Section(path, this.get(name), this.#found, this.#lineOf)
  }

  text(name: string): string | undefined {
    const value = this.get(name)
    if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return value
    this.#found.error(
      this.at(name),
      `is ${typeOf(value)}, and a text is expected`,
      'Write a text that is not empty',
    )
    return undefined
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.get(name)
    if (value === undefined) return otherwise
    if (typeof value === 'boolean') return value
    this.#found.error(this.at(name), `is ${typeOf(value)}`, 'Write true or false')
    return otherwise
  }

  whole(name: string, otherwise: number, { least, most }: { least: number; most: number }): number {
    const value = this.get(name)
    if (value === undefined) return otherwise
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
      return value as number
    this.#found.error(this.at(name), `is ${typeOf(value)}`, `Write a whole number from ${least} to ${most}`)
    return otherwise
  }

  duration(name: string, otherwise: number): number {
    return durationAt(this.get(name), otherwise, this.at(name), this.#found)
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.get(name)
    if (value === undefined || Array.isArray(value)) return value
    this.#found.error(this.at(name), `is ${typeOf(value)}, and a list is expected`, 'Write [first, second]')
    return undefined
  }

  oneOf<T extends string>(name: string, otherwise: T, words: readonly T[]): T {
    const value = this.get(name)
    if (value === undefined) return otherwise
    const word = words.find((one) => one === value)
    if (word === undefined)
      this.#found.error(this.at(name), `is ${typeOf(value)}`, `Write one of ${words.join(', ')}`)
    return word ?? otherwise
  }

  /** Called last. */
  refuseOthers(known: readonly string[] = [...this.#asked]): void {
    for (const name of this.names) {
      if (this.#asked.has(name)) continue
      this.#found.error(this.at(name), 'is not a setting', `There are ${known.toSorted().join(', ')}`)
    }
  }
}

/** Durations as everywhere in Jobmill: `'30s'`, `'1h30m'`, milliseconds. */
export function durationAt(value: unknown, otherwise: number, place: string, found: Findings): number {
  if (value === undefined) return otherwise
  try {
    return durationMs(value, place)
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.error(
      place,
      `is no duration that can be used (${typeOf(value)})`,
      "Write '30s', '2m' or '24h'; not negative",
    )
    return otherwise
  }
}

export function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a section'
  return JSON.stringify(value) ?? String(value)
}

/** The YAML as values, and where in the text each of them stands. */
export function readYaml(text: string, name: string, found: Findings): Section {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: true })
  for (const { message } of document.errors)
    found.error(name, message.split('\n')[0] ?? '', 'Mend the YAML; what follows was not read')
  const value: unknown = document.errors.length > 0 ? {} : document.toJS({ maxAliasCount: 100 })
  return new Section('', value, found, (path) => lineIn(document, lines, path))
}

function lineIn(document: Document.Parsed, lines: LineCounter, path: string): string {
  if (path === '' || !isMap(document.contents)) return ''
  const node = document.getIn(path.split('.'), true) as { range?: [number, number, number] } | undefined
  return node?.range === undefined ? '' : ` (line ${lines.linePos(node.range[0]).line})`
}
