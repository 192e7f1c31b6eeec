/** Finds the command that was typed, and parses its arguments and options. */
import { parseArgs } from 'node:util'
import { type JobmillError, quote } from '../../job/errors.ts'
import { nearest } from '../../job/options/known-keys.ts'
import type { Option, ParsedArguments, ProgramInfo, Shape } from './command.ts'
import { invalid } from './invalid.ts'

type Options = Readonly<Record<string, Option>>

/** The command with the longest name that the typed words start with. */
export function commandOf<C extends Shape>(typed: readonly string[], commands: readonly C[]): C | undefined {
  return commands
    .filter(({ words }) => words.split(' ').every((word, at) => typed[at] === word))
    .toSorted((a, b) => b.words.length - a.words.length)[0]
}

/** The words that are not values of options. Options may appear anywhere. */
export function wordsOf<C extends Shape>(
  args: readonly string[],
  { commands, common }: ProgramInfo<C>,
): string[] {
  const taking = new Set(
    commands
      .flatMap((command) => Object.entries({ ...common(command), ...command.options }))
      .flatMap(([name, { takes, short = name }]) => (takes === undefined ? [] : [`--${name}`, `-${short}`])),
  )
  return args.filter((arg, at) => !arg.startsWith('-') && !taking.has(args[at - 1] ?? ''))
}

export function parseCommand<C extends Shape>(
  args: readonly string[],
  command: C,
  { name: program, common }: ProgramInfo<C>,
): ParsedArguments {
  const options = { ...common(command), ...command.options }
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    allowPositionals: true,
    // Checked below, with our own error messages.
    strict: false,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { takes, multiple = false, short }]) => [
        name,
        { type: takes === undefined ? 'boolean' : 'string', multiple, ...(short !== undefined && { short }) },
      ]),
    ),
  })
  for (const token of tokens)
    if (token.kind === 'option') checkOption(token, options, `${program} ${command.words}`)
  const words = positionals.slice(command.words.split(' ').length)
  checkCount(words, command, program)
  const all = (option: string): string[] =>
    [values[option]].flat().filter((value): value is string => typeof value === 'string')
  return {
    words,
    text: (option) => all(option).at(-1),
    texts: all,
    has: (option) => values[option] === true,
  }
}

interface Typed {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  /** Whether the value follows an equals sign. */
  readonly inlineValue: boolean | undefined
}

function checkOption(
  { name, rawName: field, value, inlineValue = false }: Typed,
  options: Options,
  command: string,
): void {
  const option = Object.hasOwn(options, name) ? options[name] : undefined
  if (option === undefined) throw noSuchOption(name, field, Object.keys(options), command)
  if (option.takes === undefined) {
    if (value === undefined) return
    throw invalid(field, 'takes no value', `Pass ${field} alone`, value)
  }
  // `-x` starts the next option, but `-5` is a negative number and therefore a value.
  if (value !== undefined && (inlineValue || !/^-\D/.test(value))) return
  const fix = `Pass ${field} ${option.takes}, or ${field}=… for a value that starts with a dash`
  throw invalid(field, 'needs a value', fix)
}

/** Suggests the closest option for a typo. */
function noSuchOption(name: string, field: string, known: readonly string[], command: string): JobmillError {
  const near = nearest(name, known)
  const all = known.map((one) => `--${one}`).join(', ')
  const fix = near === undefined ? `Use one of ${all}` : `Did you mean "--${near}"?`
  return invalid(field, `is not an option of ${command}`, fix, undefined, 'OPTION_UNKNOWN')
}

function checkCount(
  words: readonly string[],
  { words: name, takes = '', arguments: [least, most] = [0, 0] }: Shape,
  program: string,
): void {
  if (words.length >= least && words.length <= most) return
  const isMissing = words.length < least
  const fix = `Run ${program} ${name}${takes === '' ? '' : ` ${takes}`}`
  throw invalid(name, isMissing ? 'missing argument' : `unexpected argument ${quote(words[most])}`, fix)
}

export function noSuchCommand<C extends Shape>(
  typed: readonly string[],
  { commands, name: program }: ProgramInfo<C>,
): string {
  const names = [...new Set(commands.map(({ words }) => words))]
  const [first = ''] = typed
  const near = nearestCommand(typed, names)
  const hint = near === undefined || near === first ? '' : ` Did you mean "${near}"?`
  // The group exists and its command does not: the help of the group lists its commands.
  const help = near === first ? `${program} ${first} --help` : `${program} --help`
  return `unknown command "${typed.join(' ')}".${hint} Run ${help}`
}

/**
 * Suggests a command, or a group such as `jobs`. Arguments that follow a command are not part of its name.
 */
function nearestCommand(typed: readonly string[], names: readonly string[]): string | undefined {
  const whole = [3, 2, 1].map((count) => nearestOf(typed, names, count)).find((found) => found !== undefined)
  if (whole !== undefined) return whole
  const [first = ''] = typed
  const groups = [...new Set(names.flatMap((words) => words.split(' ').slice(0, -1)))]
  const group = nearest(first, groups)
  if (group !== undefined) return group
  // Tries the last word alone, as in `doctor` for `db doctor`, if only one command ends with it.
  const verb = nearest(first, [...new Set(names.map(lastWord))])
  const ending = names.filter((words) => lastWord(words) === verb)
  return ending.length === 1 ? ending[0] : undefined
}

/** Compares word by word: as a whole, `schedules set ticker` would resemble `schedules trigger`. */
function nearestOf(typed: readonly string[], names: readonly string[], count: number): string | undefined {
  const alike = names.filter((name) => {
    const words = name.split(' ')
    return words.length === count && words.every((word, at) => isNear(typed[at] ?? '', word))
  })
  return nearest(typed.slice(0, count).join(' '), alike) ?? alike[0]
}

/**
 * True for few edits relative to the length of both words, or for swapped letters: `nwe` is near `new`, `set`
 * is not near `next`.
 */
function isNear(a: string, b: string): boolean {
  if (sorted(a) === sorted(b)) return true
  return nearest(a, [b]) !== undefined && nearest(b, [a]) !== undefined
}

function sorted(word: string): string {
  return Array.from(word).toSorted().join('')
}

function lastWord(words: string): string {
  return words.split(' ').at(-1) ?? ''
}
