/** The YAML of a config: values by name, and the line of each value. */
import { isAlias, isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml'
import { durationAt, type Place, type Problems, thereAre, typeOf } from './problems.ts'
import { type Env, nonBlank } from './secrets.ts'

export interface SettingValue {
  /** Undefined if it is not set in either place. */
  readonly value: unknown
  readonly at: Place
}

interface Source {
  /** The name of the file in problems. */
  readonly name: string
  readonly env: Env
  readonly found: Problems
  /** Maps a path of names to its line in the text. */
  readonly lineOf: (path: readonly string[]) => number | null
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isFlag = (value: unknown) => typeof value === 'boolean'
const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

/** A map of the YAML. Values are read by name, and names that were never read are reported as unknown. */
export class Section {
  /** False if the value is not a map, or is missing after its name. */
  readonly isRead: boolean
  readonly #path: readonly string[]
  readonly #values: Readonly<Record<string, unknown>>
  readonly #source: Source
  readonly #asked = new Set<string>()

  constructor(path: readonly string[], value: unknown, source: Source) {
    this.#path = path
    this.#source = source
    const isSection = typeof value === 'object' && value !== null && !Array.isArray(value)
    this.isRead = isSection || value === undefined || (value === null && path.length === 0)
    if (!this.isRead && value !== null)
      this.at().error(
        `must be a section of settings (got ${typeOf(value)})`,
        path.length === 0 ? 'Write name: value on each line' : 'Write its settings indented below it',
      )
    this.#values = isSection ? (value as Record<string, unknown>) : {}
  }

  get found(): Problems {
    return this.#source.found
  }

  get env(): Env {
    return this.#source.env
  }

  /** A setting, or the whole section. Problems name a place such as `bots.factory.handler (line 4)`. */
  at(name?: string): Place {
    const path = name === undefined ? this.#path : [...this.#path, name]
    const line = this.#source.lineOf(path)
    const place = `${path.join('.')}${line === null ? '' : ` (line ${line})`}`
    return this.found.at(path.length === 0 ? this.#source.name : place)
  }

  /**
   * Undefined if the setting is absent. A setting without a value is refused, because its default may admit
   * everyone.
   */
  get(name: string): unknown {
    return this.#read(name) ?? undefined
  }

  #read(name: string): unknown {
    if (this.#values[name] === null && !this.#asked.has(name))
      this.at(name).error('has no value', 'Remove the key, or give it a value')
    this.#asked.add(name)
    return this.#values[name]
  }

  /** Reads a setting from the YAML or from a variable, which wins. Problems name the place that was used. */
  setting(name: string, variable: string): SettingValue {
    const value = this.get(name)
    const inherited = nonBlank(this.env[variable])
    if (inherited !== undefined) return { value: inherited, at: this.found.at(variable) }
    return { value, at: this.at(name) }
  }

  get names(): string[] {
    return Object.keys(this.#values)
  }

  section(name: string): Section {
    return new Section([...this.#path, name], this.#read(name), this.#source)
  }

  text(name: string): string | undefined {
    return this.#checked(name, isText, 'a non-empty string', 'Write a string in quotes')
  }

  flag(name: string, otherwise: boolean): boolean {
    return this.#checked(name, isFlag, 'true or false', 'Write true or false') ?? otherwise
  }

  whole(name: string, otherwise: number, { least, most }: { least: number; most: number }): number {
    const isWithin = (value: unknown): value is number =>
      Number.isInteger(value) && (value as number) >= least && (value as number) <= most
    const what = `a whole number from ${least} to ${most}`
    return this.#checked(name, isWithin, what, `Write a number such as ${least}`) ?? otherwise
  }

  list(name: string): readonly unknown[] | undefined {
    return this.#checked(name, isList, 'a list', 'Write [first, second]')
  }

  /** Undefined if the setting is absent, or if it is something else, which is reported. */
  #checked<T>(name: string, is: (value: unknown) => value is T, what: string, fix: string): T | undefined {
    const value = this.get(name)
    if (value === undefined || is(value)) return value
    this.at(name).error(`must be ${what} (got ${typeOf(value)})`, fix)
    return undefined
  }

  duration(name: string, otherwise: number): number {
    return durationAt(this.get(name), otherwise, this.at(name))
  }

  oneOf<T extends string>(name: string, otherwise: T, words: readonly T[]): T {
    const value = this.get(name)
    if (value === undefined) return otherwise
    const word = words.find((one) => one === value)
    if (word === undefined)
      this.at(name).error(`has an unknown value (got ${typeOf(value)})`, thereAre(value, words))
    return word ?? otherwise
  }

  /** Call this last. `secret` names settings that are refused, so that no fix suggests them. */
  refuseOthers(secret: readonly string[] = []): void {
    const known = [...this.#asked].filter((name) => !secret.includes(name))
    for (const name of this.names)
      if (!this.#asked.has(name)) this.at(name).error('is an unknown setting', thereAre(name, known))
  }
}

/** Parses the YAML into values and their lines. Null if it is invalid. */
export function readYaml(text: string, name: string, env: Env, found: Problems): Section | null {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  // Report only the first error: the others are mostly its consequences.
  const [first] = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0])
  if (first !== undefined) {
    const { line, col } = lines.linePos(first.pos[0])
    const at = found.at(`${name} (line ${line}, column ${col})`)
    const fix = 'Fix the syntax: the settings in it are not checked until then'
    at.error(`is not valid YAML: ${first.message}`, fix)
    return null
  }
  const lineOf = (path: readonly string[]): number | null => lineIn(document, lines, path)
  return new Section([], document.toJS({ maxAliasCount: 100 }), { name, env, found, lineOf })
}

/** The line of the name, because its value may start further down. */
function lineIn(document: Document.Parsed, lines: LineCounter, path: readonly string[]): number | null {
  let node: unknown = document.contents
  let line: number | null = null
  for (const name of path) {
    const pair = isMap(node)
      ? node.items.find(({ key }) => isScalar(key) && String(key.value) === name)
      : undefined
    const range = isScalar(pair?.key) ? pair.key.range : undefined
    if (pair === undefined || range === undefined || range === null) return null
    line = lines.linePos(range[0]).line
    node = isAlias(pair.value) ? pair.value.resolve(document) : pair.value
  }
  return line
}
