/** Writes docs/reference/options.md: one table for each section, from the code. */
import { readFileSync } from 'node:fs'
import { type OpenFile, withCompiler } from './compiler.ts'
import { initialValue } from './initial-value.ts'
import { type Option, readOptions } from './read-options.ts'
import { type Section, SECTIONS } from './sections.ts'
import { type Value, VALUES } from './values.ts'

type Open = (file: string) => OpenFile
type Values = Readonly<Record<string, Value>>

/** The last sentence of a comment, where it says what an omitted option means. */
const OMITTED = /^(.*) (?:Default|Omitted|If omitted): ((?:(?!because|so that)[^.])+)\.$/

const HEAD = ['| option | type | default | bounds | what it does |', '|---|---|---|---|---|']

/** What the page needs from the sources. */
export interface Facts {
  readonly sections: readonly { readonly section: Section; readonly options: readonly Option[] }[]
  /** The defaults that `values.ts` takes from a file, by the key of the option. */
  readonly initial: ReadonlyMap<string, string>
}

/** Starts the compiler, which takes a few seconds. */
export function readFacts(): Promise<Facts> {
  const replaced = Object.entries(VALUES).flatMap(([key, { default: given }]) =>
    typeof given === 'object' ? [[key, given.in] as const] : [],
  )
  const files = [...SECTIONS.map(({ file }) => file), ...replaced.map(([, file]) => file)]
  return withCompiler(files, (open) => ({
    sections: SECTIONS.map((section) => ({ section, options: optionsOf(section, open) })),
    initial: new Map(
      replaced.map(([key, file]) => [key, initialValue(open(file).source, key.split('.').at(-1) ?? '')]),
    ),
  }))
}

/** The whole page. Its opening is in opening.md. */
export function optionsPage({ sections, initial }: Facts, values: Values = VALUES): string {
  const opening = readFileSync(new URL('opening.md', import.meta.url), 'utf8').trimEnd()
  const keys = sections.flatMap(({ section, options }) => options.map(({ path }) => keyOf(section, path)))
  const unknown = Object.keys(values).filter((key) => !keys.includes(key))
  if (unknown.length > 0) throw new Error(`no such options: ${unknown.join(', ')}. Remove them in values.ts`)
  const parts = sections.map(({ section, options }) => {
    const rows = options.map((option) => row(section, option, values, initial))
    return [`## ${section.title}`, '', wrapped(section.intro), '', ...HEAD, ...rows].join('\n')
  })
  return `${[opening, ...parts].join('\n\n')}\n`
}

const keyOf = ({ type }: Section, path: string): string => `${type}.${path}`

/** Without the options that another section lists. */
function optionsOf({ file, type, without = [] }: Section, open: Open): Option[] {
  const elsewhere = SECTIONS.filter(({ title }) => without.includes(title))
  if (elsewhere.length < without.length) throw new Error(`${type}: no section ${without.join(' or ')}`)
  const places = new Set(
    elsewhere.flatMap((other) => readOptions(open(other.file), other.type).map(({ place }) => place)),
  )
  const options = readOptions(open(file), type)
  const left = options.filter(({ place }) => places.has(place)).map(({ path }) => path)
  return options.filter(({ path }) => !left.some((other) => path === other || path.startsWith(`${other}.`)))
}

/** At most 125 columns, as in the other pages. A link is not broken inside. */
function wrapped(text: string): string {
  const lines: string[] = []
  for (const word of text.match(/\[[^\]]*\]\S*|`[^`]*`\S*|\S+/g) ?? []) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + word.length < 125) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines.join('\n')
}

function row(section: Section, option: Option, values: Values, initial: Facts['initial']): string {
  const key = keyOf(section, option.path)
  const { default: given, bounds } = values[key] ?? {}
  if (option.isNumeric && given === undefined && bounds === undefined)
    throw new Error(`${key} has a number or a duration. Add its default or its bounds in values.ts`)
  if (option.text === '') throw new Error(`${key} has no comment. Add one where it is declared`)
  const value = typeof given === 'object' ? initial.get(key) : given
  const said = OMITTED.exec(option.text)?.[2]
  const shown = value ?? (option.isRequired ? 'required' : said)
  const cells = [
    `\`${section.prefix ?? ''}${option.path}\``,
    `\`${option.type}\``,
    shown ?? '',
    bounds ?? '',
    withoutDefault(option.text, shown, key),
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const plain = (of: string): string => of.replaceAll(/[`,]/g, '')

/** The comment without its default, which has a column. Throws where the two differ. */
function withoutDefault(text: string, value: string | undefined, key: string): string {
  const [all, said] = / \(default:? ((?:[^);:,]|,(?=\d))+)\)/.exec(text) ?? []
  if (value === undefined) return text
  if (all === undefined || said === undefined) return text.replace(OMITTED, '$1')
  if (plain(said) === plain(value)) return text.replace(all, '')
  throw new Error(`${key}: the comment says "default ${said}", and the code ${value}. Correct the comment`)
}
