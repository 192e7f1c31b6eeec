/** The YAML of a config: values by name, and the line of each value. */
import { isAlias, isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml'
import { durationAt, type Problems, thereAre, typeOf } from './problems.ts'

/** Maps a path of names to its line in the text. */
type LineOf = (path: readonly string[]) => number | null

/** A map of the YAML. Values are read by name, and names that were never read are reported as unknown. */
export class Section {
  /** False if the value is not a map, or is missing after its name. */
  readonly isRead: boolean
  readonly #path: readonly string[]
  readonly #values: Readonly<Record<string, unknown>>
  readonly #document: { readonly name: string; readonly found: Problems; readonly lineOf: LineOf }
  readonly #asked = new Set<string>()

  constructor(
    path: readonly string[],
    value: unknown,
    document: { readonly name: string; readonly found: Problems; readonly lineOf: LineOf },
  ) {
    this.#path = path
    this.#document = document
    const isSection = typeof value === 'object' && value !== null && !Array.isArray(value)
    this.isRead = isSection || value === undefined || (value === null && path.length === 0)
    if (!this.isRead && value !== null)
      this.#found.error(
        this.at(),
        `must be a section of settings (got ${typeOf(value)})`,
        path.length === 0 ? 'Write name: value on each line' : 'Write its settings indented below it',
      )
    this.#values = isSection ? (value as Record<string, unknown>) : {}
  }

  get #found(): Problems {
    return this.#document.found
  }

  /** Returns a location such as `bots.factory.handler (line 4)`. */
  at(name?: string): string {
    const path = name === undefined ? this.#path : [...this.#path, name]
    if (path.length === 0) return this.#document.name
    const line = this.#document.lineOf(path)
    return `${path.join('.')}${line === null ? '' : ` (line ${line})`}`
  }

  /** Undefined if the setting is absent. One without a value is refused: its default may admit everyone. */
  get(name: string): unknown {
    return this.#read(name) ?? undefined
  }

  #read(name: string): unknown {
    if (this.#values[name] === null && !this.#asked.has(name))
      this.#found.error(this.at(name), 'has no value', 'Remove the key, or give it a value')
    this.#asked.add(name)
    return this.#values[name]
  }

  get names(): string[] {
    return Object.keys(this.#values)
  }

  section(name: string): Section {
    return new Section([...this.#path, name], this.#read(name), this.#document)
  }

  text(name: string): string | undefined {
    const value = this.get(name)
    if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return value
    this.#found.error(
      this.at(name),
      `must be a non-empty string (got ${typeOf(value)})`,
      'Write a string in quotes',
    )
    return undefined
  }

  flag(name: string, otherwise: boolean): boolean {
    const value = this.get(name)
    if (value === undefined) return otherwise
    if (typeof value === 'boolean') return value
    this.#found.error(this.at(name), `must be true or false (got ${typeOf(value)})`, 'Write true or false')
    return otherwise
  }

  whole(name: string, otherwise: number, { least, most }: { least: number; most: number }): number {
    const value = this.get(name)
    if (value === undefined) return otherwise
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most)
      return value as number
    this.#found.error(
      this.at(name),
      `must be a whole number from ${least} to ${most} (got ${typeOf(value)})`,
      `Write a number such as ${least}`,
    )
    return otherwise
  }

  duration(name: string, otherwise: number): number {
    return durationAt(this.get(name), otherwise, this.at(name), this.#found)
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.get(name)
    if (value === undefined || Array.isArray(value)) return value
    this.#found.error(this.at(name), `must be a list (got ${typeOf(value)})`, 'Write [first, second]')
    return undefined
  }

  oneOf<T extends string>(name: string, otherwise: T, words: readonly T[]): T {
    const value = this.get(name)
    if (value === undefined) return otherwise
    const word = words.find((one) => one === value)
    if (word === undefined)
      this.#found.error(this.at(name), `has an unknown value (got ${typeOf(value)})`, thereAre(value, words))
    return word ?? otherwise
  }

  /** Call this last. `secret` names settings that are refused, so that no fix suggests them. */
  refuseOthers(secret: readonly string[] = []): void {
    const known = [...this.#asked].filter((name) => !secret.includes(name))
    for (const name of this.names) {
      if (this.#asked.has(name)) continue
      this.#found.error(this.at(name), 'is an unknown setting', thereAre(name, known))
    }
  }
}

/** Parses the YAML into values and their lines. Null if it is invalid. */
export function readYaml(text: string, name: string, found: Problems): Section | null {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  // Report only the first error: the others are mostly its consequences.
  const [first] = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0])
  if (first !== undefined) {
    const { line, col } = lines.linePos(first.pos[0])
    found.error(
      `${name} (line ${line}, column ${col})`,
      `is not valid YAML: ${first.message}`,
      'Fix the syntax: the settings in it are not checked until then',
    )
    return null
  }
  const lineOf: LineOf = (path) => lineIn(document, lines, path)
  return new Section([], document.toJS({ maxAliasCount: 100 }), { name, found, lineOf })
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
