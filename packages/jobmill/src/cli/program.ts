/** A program with commands, ours or of an application: finds the command that was typed, and turns errors into a line and an exit code. */
import { isJobmillError } from '../job/errors.ts'
import { EXIT, type Given, type Lines, type Option, type Shape } from './command.ts'
import { exitCodeOf } from './exit-code.ts'
import { commandOf, noSuchCommand, read, wordsOf } from './given.ts'
import { helpOn, helpOnAll, helpOnGroup } from './help.ts'
import { inOwnWords } from './own-words.ts'
import { indentedLines } from './plain.ts'

export interface Program<C extends Shape> {
  /** What is typed to start it. */
  readonly name: string
  readonly version: string
  /** How the help begins. */
  readonly introduction: string
  /** What it may find out of reach, beside the database. */
  readonly reaches?: string
  /** What it ends with 3 for, where that is not as of ours. */
  readonly refused?: string
  readonly commands: readonly C[]
  /** Those that a command has beside its own. */
  readonly common: (command: C) => Readonly<Record<string, Option>>
  readonly run: (command: C, given: Given) => Promise<number>
  /** Errors of the program's own; undefined for those that are not. */
  readonly explain?: (error: unknown) => Explained | undefined
}

export interface Explained {
  readonly lines: readonly string[]
  readonly code: number
}

/** The exit code; rejects with what the command rejects with, in the words of the command line. */
export async function obeyProgram<C extends Shape>(
  program: Program<C>,
  args: readonly string[],
  { out, err }: Lines,
): Promise<number> {
  const { name, commands, common } = program
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-v')) {
    out(program.version)
    return EXIT.done
  }
  const typed = wordsOf(args, commands, common)
  const asksForHelp = args.includes('--help') || args.includes('-h') || typed[0] === 'help'
  const meant = typed[0] === 'help' ? typed.slice(1) : typed
  const command = commandOf(meant, commands)
  const tell = asksForHelp ? out : err
  if (command === undefined) {
    const group = commands.filter(({ words }) => meant.length > 0 && words.startsWith(`${meant.join(' ')} `))
    if (group.length > 0) tell(helpOnGroup(group, program))
    else if (meant.length === 0) tell(helpOnAll(commands, program))
    else err(`error   ${noSuchCommand(meant, commands, name)}`)
    return asksForHelp && (group.length > 0 || meant.length === 0) ? EXIT.done : EXIT.usage
  }
  if (asksForHelp) {
    out(helpOn(command, { ...program, options: { ...command.options, ...common(command) } }))
    return EXIT.done
  }
  const options = { ...common(command), ...command.options }
  try {
    return await program.run(command, read(args, command, { name, options }))
  } catch (error) {
    // Those of the program's own are in its words already.
    throw program.explain?.(error) === undefined ? inOwnWords(error, command) : error
  }
}

/** The exit code, also of what went wrong, which is told. Only a defect is told with where it happened. */
export async function runProgram<C extends Shape>(
  program: Program<C>,
  args: readonly string[],
  lines: Lines,
): Promise<number> {
  try {
    return await obeyProgram(program, args, lines)
  } catch (error) {
    const { lines: told, code } = program.explain?.(error) ?? explained(error)
    for (const line of told) lines.err(indentedLines(`error   ${line}`))
    return code
  }
}

function explained(error: unknown): Explained {
  if (isJobmillError(error)) return { lines: [error.message], code: exitCodeOf(error) }
  // The system says which file, and what is the matter with it.
  if (error instanceof Error && 'syscall' in error) return { lines: [error.message], code: EXIT.failed }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { lines: [text], code: EXIT.failed }
}
