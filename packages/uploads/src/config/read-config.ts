/**
 * Reads the config from a YAML file and the environment, which overrides it. Reports all problems at once,
 * each with its place.
 */
import { existsSync, readFileSync } from 'node:fs'
import { JobmillError } from 'jobmill'
import { nearest } from 'jobmill/cli'
import { LineCounter, parseDocument } from 'yaml'
import type * as z from 'zod'
import { LIMITS } from '../inbox/limits.ts'
import { type Config, type ConfigProblem, NAMES, type ReadConfig, shape, WHOLE_NUMBERS } from './shape.ts'
import { sizeText } from './sizes.ts'

const DEFAULT_CONFIG = 'jobmill-uploads.yaml'
const TOKENS_FILE = 'JOBMILL_TOKENS_FILE'

export type Env = Readonly<Record<string, string | undefined>>

/**
 * `maxFileBytes` becomes UPLOADS_MAX_FILE_BYTES, and so on. The database and the tokens have their common
 * names.
 */
export function variableOf(name: keyof Config): string {
  if (name === 'database') return 'DATABASE_URL'
  if (name === 'tokens') return 'JOBMILL_TOKENS'
  return `UPLOADS_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

/** Values from the command line, with their options. They override everything else. */
export type TypedValues = {
  readonly [K in keyof Config]?: readonly [option: string, value: string | undefined]
}

/** `file`: the path that was passed; undefined for the default file, if it exists. */
export function readConfig(file: string | undefined, env: Env, typed: TypedValues = {}): ReadConfig {
  const problems: ConfigProblem[] = []
  const { values, placeOf } = fromFile(file, problems)
  const isFileRead = problems.length === 0
  const given: Record<string, unknown> = { ...values }
  for (const [name, value] of Object.entries(values)) {
    if (value !== null) continue
    problems.push({ place: placeOf([name]), message: 'has no value. Remove the key, or give it a value' })
    delete given[name]
  }
  const named = new Map<string, string>()
  for (const name of NAMES) {
    const value = env[variableOf(name)]?.trim() ?? ''
    if (value === '' || name === 'job') continue
    given[name] = valueOf(name, value)
    named.set(name, variableOf(name))
  }
  const tokens = tokensIn(env, problems)
  if (tokens !== undefined) {
    given['tokens'] = tokens
    named.set('tokens', TOKENS_FILE)
  }
  for (const [name, [option, value]] of Object.entries(typed)) {
    if (value === undefined) continue
    given[name] = valueOf(name, value)
    named.set(name, option)
  }
  const placeOfName = (name: keyof Config): string | null =>
    named.get(name) ?? (Object.hasOwn(values, name) ? placeOf([name]) : null)
  const read = shape.safeParse(given)
  if (!read.success)
    for (const issue of read.error.issues)
      problems.push(...problemsOf(issue, (path) => named.get(String(path[0])) ?? placeOf(path)))
  const usable: ReadConfig = { config: read.success ? read.data : usableOf(given), placeOf: placeOfName }
  const { maxFileBytes = 0, maxRequestBytes = LIMITS.maxRequestBytes } = usable.config
  if (maxFileBytes > maxRequestBytes)
    problems.push({
      place: placeOfName('maxFileBytes') ?? 'maxFileBytes',
      message: `must not exceed maxRequestBytes (${sizeText(maxRequestBytes)}). Lower it, or raise maxRequestBytes`,
    })
  if (problems.length > 0) throw new ConfigInvalid(problems, isFileRead ? usable : null)
  return usable
}

function valueOf(name: string, text: string): unknown {
  return WHOLE_NUMBERS.has(name) && /^[0-9]+$/.test(text) ? Number(text) : text
}

/** The text of the file that JOBMILL_TOKENS_FILE names. */
function tokensIn(env: Env, problems: ConfigProblem[]): string | undefined {
  const file = env[TOKENS_FILE]?.trim() ?? ''
  if (file === '') return undefined
  const refuse = (message: string): undefined => void problems.push({ place: TOKENS_FILE, message })
  if ((env['JOBMILL_TOKENS']?.trim() ?? '') !== '')
    return refuse('must not be set together with JOBMILL_TOKENS. Unset one of the two')
  try {
    const text = readFileSync(file, 'utf8').trim()
    return text === '' ? refuse(`names an empty file (got ${file}). Write the tokens into it`) : text
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return refuse(`names ${file}, which cannot be read (${why}). Use a file that this user can read`)
  }
}

/** Keeps each valid value when some are invalid. */
function usableOf(given: Readonly<Record<string, unknown>>): Config {
  return Object.fromEntries(
    NAMES.flatMap((name) => {
      const { success, data } = shape.shape[name].safeParse(given[name])
      return success && data !== undefined ? [[name, data]] : []
    }),
  )
}

export class ConfigInvalid extends JobmillError {
  override readonly problems: readonly ConfigProblem[]
  /** The valid part of the config; null if the file cannot be read at all. */
  readonly usable: ReadConfig | null
  constructor(problems: readonly ConfigProblem[], usable: ReadConfig | null = null) {
    super('OPTIONS_INVALID', problems.map(({ place, message }) => `${place}: ${message}`).join('\n'))
    this.problems = problems
    this.usable = usable
  }
}

interface Given {
  readonly values: Record<string, unknown>
  readonly placeOf: (path: readonly PropertyKey[]) => string
}

function fromFile(named: string | undefined, problems: ConfigProblem[]): Given {
  const file = named ?? DEFAULT_CONFIG
  const placeOf = (): string => file
  if (!existsSync(file)) {
    if (named !== undefined)
      problems.push({ place: named, message: 'file does not exist. Pass an existing file with --config' })
    return { values: {}, placeOf }
  }
  const lines = new LineCounter()
  const document = parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines, prettyErrors: false })
  // Report only the first error: the others are mostly its consequences.
  const [first] = document.errors.toSorted((a, b) => a.pos[0] - b.pos[0])
  if (first !== undefined) {
    const { line, col } = lines.linePos(first.pos[0])
    problems.push({
      place: `${file} (line ${line}, column ${col})`,
      message: `is not valid YAML: ${first.message}. Check the indentation, quotes and brackets of that line`,
    })
    return { values: {}, placeOf }
  }
  const values: unknown = document.toJS()
  if (values === null) return { values: {}, placeOf }
  if (typeof values !== 'object' || Array.isArray(values)) {
    problems.push({
      place: file,
      message: 'must be a map of settings. Write "name: value" on each line',
    })
    return { values: {}, placeOf }
  }
  return {
    values: values as Record<string, unknown>,
    placeOf(path) {
      const node = document.getIn(path, true) as { range?: [number, number, number] } | undefined
      const line = node?.range === undefined ? null : lines.linePos(node.range[0]).line
      return `${file}${line === null ? '' : `:${line}`} ${path.join('.')}`.trimEnd()
    },
  }
}

function problemsOf(
  issue: z.core.$ZodIssue,
  placeOf: (path: readonly PropertyKey[]) => string,
): ConfigProblem[] {
  if (issue.code !== 'unrecognized_keys') return [{ place: placeOf(issue.path), message: messageOf(issue) }]
  return issue.keys.map((key) => ({
    place: placeOf([...issue.path, key]),
    message: unknownName(key, issue.path.length === 0 ? NAMES : ['kind', 'queue']),
  }))
}

function unknownName(key: string, known: readonly string[]): string {
  const near = nearest(key, known)
  const hint = near === undefined ? '' : `Did you mean ${near}? `
  return `is an unknown setting. ${hint}Use one of ${known.join(', ')}`
}

/** The message of an issue. In a union, the last message is our own. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_union') return issue.errors.flat().at(-1)?.message ?? issue.message
  return issue.message
}
