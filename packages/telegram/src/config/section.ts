/** The YAML of a config: its values by name, and the line that each of them stands in. */
import { isAlias, isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml'
import { durationAt, type Problems, thereAre, typeOf } from './problems.ts'

/** Where in the text a path of names stands. */
type LineOf = (path: readonly string[]) => number | null

/** A map of the YAML, whose values are asked for by name; what nobody asked for is reported. */
export class Section {
  /** False when something else stands in its place. */
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
    this.isRead = isSection || value === undefined || value === null
    if (!this.isRead)
      this.#found.error(
        this.at(),
        `is ${typeOf(value)}, and names with values are expected`,
        path.length === 0 ? 'Write name: value in each line' : 'Indent its settings below it',
      )
    this.#values = isSection ? (value as Record<string, unknown>) : {}
  }

  get #found(): Problems {
    return this.#document.found
  }

  /** `bots.factory.handler (line 4)`. */
  at(name?: string): string {
    const path = name === undefined ? this.#path : [...this.#path, name]
    if (path.length === 0) return this.#document.name
    const line = this.#document.lineOf(path)
    return `${path.join('.')}${line === null ? '' : ` (line ${line})`}`
  }

  get(name: string): unknown {
    this.#asked.add(name)
    return this.#values[name] ?? undefined
  }

  get names(): string[] {
    return Object.keys(this.#values)
  }

  section(name: string): Section {
    return new Section([...this.#path, name], this.get(name), this.#document)
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
    if (word === undefined) this.#found.error(this.at(name), `is ${typeOf(value)}`, thereAre(value, words))
    return word ?? otherwise
  }

  /** Called last. `secret` are those that were asked for only to be refused. */
  refuseOthers(secret: readonly string[] = []): void {
    const known = [...this.#asked].filter((name) => !secret.includes(name))
    for (const name of this.names) {
      if (this.#asked.has(name)) continue
      this.#found.error(this.at(name), 'is not a setting', thereAre(name, known))
    }
  }
}

/** The YAML as values, and where in the text each of them stands. Null when it cannot be read. */
export function readYaml(text: string, name: string, found: Problems): Section | null {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  // One mistake looks like many: what follows the first is mostly about that.
  const [first] = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0])
  if (first !== undefined) {
    const { line, col } = lines.linePos(first.pos[0])
    found.error(
      `${name} (line ${line}, column ${col})`,
      `is no YAML: ${first.message}`,
      'Mend it: until then nothing in it is read',
    )
    return null
  }
  const lineOf: LineOf = (path) => lineIn(document, lines, path)
  return new Section([], document.toJS({ maxAliasCount: 100 }), { name, found, lineOf })
}

/** The line of its name: what it holds may begin below. */
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
