/** Generates the help from the table of commands, so that the two cannot differ. */
import { COMMON, type Option, type Shape } from './command.ts'

/** The properties of a program that its help shows. */
interface ProgramInfo {
  readonly name: string
  readonly introduction: string
  readonly reaches?: string
  readonly refused?: string
}

/** The `jobmill` program. */
export const JOBMILL: ProgramInfo = {
  name: 'jobmill',
  introduction: `jobmill: background jobs on SQLite or PostgreSQL

The config is a module whose default export is the options of jobmill(): export default { jobs }.
Without a store in the config, DATABASE_URL selects the database; the default is the SQLite file jobs.db.`,
}

export function helpOnAll(commands: readonly Shape[], program: ProgramInfo = JOBMILL): string {
  const { name, introduction } = program
  const more = columns([
    [`${name} COMMAND --help`, 'show the options of a command'],
    [`${name} --version`, 'show the version'],
  ])
  return `${introduction}\n\n${helpOnGroup(commands, program)}\n\n${more}\n\n${exitCodes(program)}`
}

/** The help of a group, for `jobmill jobs` and `jobmill jobs --help`. */
export function helpOnGroup(commands: readonly Shape[], { name }: ProgramInfo = JOBMILL): string {
  return columns(commands.map((command) => [`${name} ${usageOf(command)}`, command.says] as const))
}

export function helpOn(
  command: Shape,
  program: ProgramInfo & { readonly options: Readonly<Record<string, Option>> } = {
    ...JOBMILL,
    options: { ...command.options, ...COMMON },
  },
): string {
  const { examples = [] } = command
  const options = Object.entries(program.options)
  return [
    `${program.name} ${usageOf(command)}\n\n  ${command.says}`,
    `Options:\n${columns(options.map(([name, option]) => [optionText(name, option), option.says] as const))}`,
    ...(options.some(([, { takes }]) => takes === 'DURATION') ? [DURATIONS] : []),
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`]),
    exitCodes(program),
  ].join('\n\n')
}

const DURATIONS = 'DURATION is a number with a unit: 500ms, 90s, 10m, 1h30m or 7d.'

function exitCodes({ reaches, refused = 'not found or not allowed in its state' }: ProgramInfo): string {
  const far = reaches === undefined ? 'the database' : `the database or ${reaches}`
  return `Exit codes: 0 success, 1 failure, 2 invalid usage, 3 ${refused},
4 cannot reach ${far}.`
}

function usageOf({ words, takes }: Shape): string {
  return takes === undefined ? words : `${words} ${takes}`
}

function optionText(name: string, { takes, multiple = false }: Option): string {
  return `--${name}${takes === undefined ? '' : ` ${takes}`}${multiple ? ' …' : ''}`
}

function columns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([left]) => left.length))
  return lines.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`).join('\n')
}
