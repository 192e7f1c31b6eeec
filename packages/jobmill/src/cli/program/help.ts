/** Generates the help from the table of commands, so that the two cannot differ. */
import type { Option, ProgramInfo, Shape } from './command.ts'

export function helpOnAll<C extends Shape>(program: ProgramInfo<C>): string {
  const { name, introduction, commands } = program
  const more = columns([
    [`${name} COMMAND --help`, 'show the options of a command'],
    [`${name} --version`, 'show the version'],
  ])
  return `${introduction}\n\n${helpOnGroup(commands, name)}\n\n${more}\n\n${exitCodes(program)}`
}

/** The help of a group, for `jobmill jobs` and `jobmill jobs --help`. */
export function helpOnGroup(commands: readonly Shape[], name: string): string {
  return columns(commands.map((command) => [`${name} ${usageOf(command)}`, command.says] as const))
}

export function helpOn<C extends Shape>(command: C, program: ProgramInfo<C>): string {
  const { examples = [] } = command
  const options = Object.entries({ ...command.options, ...program.common(command) })
  return [
    `${program.name} ${usageOf(command)}\n\n  ${command.says}`,
    `Options:\n${columns(options.map(([name, option]) => [optionText(name, option), option.says] as const))}`,
    ...(options.some(([, { takes }]) => takes === 'DURATION') ? [DURATIONS] : []),
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`]),
    exitCodes(program),
  ].join('\n\n')
}

const DURATIONS = 'DURATION is a number with a unit: 500ms, 90s, 10m, 1h30m or 7d.'

function exitCodes({
  reaches,
  refused = 'not found or not allowed in the current state',
}: Pick<ProgramInfo<never>, 'reaches' | 'refused'>): string {
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
