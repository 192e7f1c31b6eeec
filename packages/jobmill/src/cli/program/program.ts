/**
 * A program with commands: finds the command that was typed, runs it, and turns errors into messages and exit
 * codes.
 */
import { isJobmillError } from '../../job/errors.ts'
import { EXIT, type Lines, type ParsedArguments, type ProgramInfo, type Shape } from './command.ts'
import { exitCodeOf } from './exit-code.ts'
import { commandOf, noSuchCommand, parseCommand, wordsOf } from './parse-arguments.ts'
import { helpOn, helpOnAll, helpOnGroup } from './help.ts'
import { translateError } from './own-words.ts'
import { safeLines } from '../../job/text/safe-text.ts'

export interface Program<C extends Shape> extends ProgramInfo<C> {
  readonly run: (command: C, parsed: ParsedArguments) => Promise<number>
  /** Explains the program's own errors; returns undefined for all others. */
  readonly explain?: (error: unknown) => Explained | undefined
}

export interface Explained {
  readonly lines: readonly string[]
  readonly code: number
}

/** Resolves with the exit code; rejects with the error of the command, translated for the command line. */
export async function obeyProgram<C extends Shape>(
  program: Program<C>,
  args: readonly string[],
  { out, err }: Lines,
): Promise<number> {
  const { name, commands } = program
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-v')) {
    out(program.version)
    return EXIT.done
  }
  const typed = wordsOf(args, program)
  const asksForHelp = args.includes('--help') || args.includes('-h') || typed[0] === 'help'
  const meant = typed[0] === 'help' ? typed.slice(1) : typed
  const command = commandOf(meant, commands)
  const print = asksForHelp ? out : err
  if (command === undefined) {
    const group = commands.filter(({ words }) => meant.length > 0 && words.startsWith(`${meant.join(' ')} `))
    const option = meant.length === 0 && !asksForHelp ? args.find((arg) => arg.startsWith('-')) : undefined
    if (option !== undefined) err(`error   ${option}: requires a command before it. Run ${name} --help`)
    else if (group.length > 0) print(helpOnGroup(group, name))
    else if (meant.length === 0) print(helpOnAll(program))
    else err(`error   ${noSuchCommand(meant, program)}`)
    return asksForHelp && (group.length > 0 || meant.length === 0) ? EXIT.done : EXIT.usage
  }
  if (asksForHelp) {
    out(helpOn(command, program))
    return EXIT.done
  }
  try {
    return await program.run(command, parseCommand(args, command, program))
  } catch (error) {
    // The program's own errors need no translation.
    throw program.explain?.(error) === undefined ? translateError(error, command) : error
  }
}

/**
 * Resolves with the exit code, even after an error, which it prints. Prints a stack trace only for defects.
 */
export async function runProgram<C extends Shape>(
  program: Program<C>,
  args: readonly string[],
  lines: Lines,
): Promise<number> {
  try {
    return await obeyProgram(program, args, lines)
  } catch (error) {
    const { lines: messages, code } = program.explain?.(error) ?? explain(error)
    for (const line of messages) lines.err(safeLines(`error   ${line}`))
    return code
  }
}

function explain(error: unknown): Explained {
  if (isJobmillError(error)) return { lines: [error.message], code: exitCodeOf(error) }
  // System errors already name the file and the problem.
  if (error instanceof Error && 'syscall' in error) return { lines: [error.message], code: EXIT.failed }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { lines: [text], code: EXIT.failed }
}
