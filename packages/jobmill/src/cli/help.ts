/** The help, written from the table of commands, so that it cannot differ from it. */
import { COMMON, type Option, type Shape } from './command.ts'

/** What the help has to know of a program. */
interface Told {
  readonly name: string
  readonly introduction: string
  readonly reaches?: string
  readonly refused?: string
}

/** Ours. */
export const JOBMILL: Told = {
  name: 'jobmill',
  introduction: `jobmill: durable background work

The config is a module whose default export is the options of jobmill(): export default { jobs }. Without a store in it,
DATABASE_URL names one; without that it is the SQLite file jobmill.db of this folder.`,
}

export function helpOnAll(commands: readonly Shape[], program: Told = JOBMILL): string {
  const { name, introduction } = program
  const more = columns([
    [`${name} COMMAND --help`, 'for its options'],
    [`${name} --version`, 'which release this is'],
  ])
  return `${introduction}\n\n${helpOnGroup(commands, program)}\n\n${more}\n\n${exitCodes(program)}`
}

/** `jobmill jobs` and `jobmill jobs --help`: what there is of this name. */
export function helpOnGroup(commands: readonly Shape[], { name }: Told = JOBMILL): string {
  return columns(commands.map((command) => [`${name} ${called(command)}`, command.says] as const))
}

export function helpOn(
  command: Shape,
  program: Told & { readonly options: Readonly<Record<string, Option>> } = {
    ...JOBMILL,
    options: { ...command.options, ...COMMON },
  },
): string {
  const { examples = [] } = command
  const options = Object.entries(program.options)
  return [
    `${program.name} ${called(command)}\n\n  ${command.says}`,
    `Options:\n${columns(options.map(([name, option]) => [spelled(name, option), option.says] as const))}`,
    ...(options.some(([, { takes }]) => takes === 'DURATION') ? [DURATIONS] : []),
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`]),
    exitCodes(program),
  ].join('\n\n')
}

const DURATIONS = 'DURATION is a number with a unit: 500ms, 90s, 10m, 1h30m or 7d.'

function exitCodes({ reaches, refused = 'not there or its state does not allow it' }: Told): string {
  const far = reaches === undefined ? 'the database' : `the database or ${reaches}`
  return `Exit codes: 0 done, 1 it failed, 2 it was called wrongly, 3 ${refused}, 4 ${far}
cannot be reached.`
}

function called({ words, takes }: Shape): string {
  return takes === undefined ? words : `${words} ${takes}`
}

function spelled(name: string, { takes, multiple = false }: Option): string {
  return `--${name}${takes === undefined ? '' : ` ${takes}`}${multiple ? ' …' : ''}`
}

function columns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([left]) => left.length))
  return lines.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`).join('\n')
}
