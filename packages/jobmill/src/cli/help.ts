/** The help, written from the table of commands, so that it cannot differ from it. */
import { type Command, COMMON, type Option } from './command.ts'

const INTRODUCTION = `jobmill: durable background work

The config is a module whose default export is the options of jobmill(): export default { jobs }. Without a store in it,
DATABASE_URL names one; without that it is the SQLite file jobmill.db of this folder.`

const EXIT_CODES = `Exit codes: 0 done, 1 it failed, 2 it was called wrongly, 3 not there or its state does not allow it, 4 the database
cannot be reached.`

export function helpOnAll(commands: readonly Command[]): string {
  const lines = commands.map((command) => [`jobmill ${called(command)}`, command.says] as const)
  return `${INTRODUCTION}\n\n${columns(lines)}\n\n  jobmill COMMAND --help   for its options and examples\n  jobmill --version        which release this is\n\n${EXIT_CODES}`
}

/** `jobmill jobs` and `jobmill jobs --help`: what there is of this name. */
export function helpOnGroup(commands: readonly Command[]): string {
  return columns(commands.map((command) => [`jobmill ${called(command)}`, command.says] as const))
}

export function helpOn(command: Command): string {
  const options = Object.entries({ ...command.options, ...COMMON })
  return [
    `jobmill ${called(command)}\n\n  ${command.says}`,
    `Options:\n${columns(options.map(([name, option]) => [spelled(name, option), option.says] as const))}`,
    `Examples:\n${command.examples.map((example) => `  ${example}`).join('\n')}`,
    EXIT_CODES,
  ].join('\n\n')
}

function called({ words, takes }: Command): string {
  return takes === undefined ? words : `${words} ${takes}`
}

function spelled(name: string, { takes, multiple = false }: Option): string {
  return `--${name}${takes === undefined ? '' : ` ${takes}`}${multiple ? ' …' : ''}`
}

function columns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([left]) => left.length))
  return lines.map(([left, right]) => `  ${left.padEnd(width)}   ${right}`).join('\n')
}
