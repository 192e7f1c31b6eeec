#!/usr/bin/env node
/** The command line: finds the command, and turns errors into a line and an exit code. */
import { isJobmillError } from '../job/errors.ts'
import { VERSION } from '../job/version.ts'
import { EXIT } from './command.ts'
import { COMMANDS } from './commands.ts'
import { exitCodeOf } from './exit-code.ts'
import { commandOf, noSuchCommand, wordsOf } from './given.ts'
import { helpOn, helpOnAll, helpOnGroup } from './help.ts'
import { obey } from './obey.ts'
import { terminal } from './terminal.ts'

async function main(args: readonly string[]): Promise<number> {
  if (args.length === 1 && (args[0] === '--version' || args[0] === '-v')) {
    terminal.out(VERSION)
    return EXIT.done
  }
  const typed = wordsOf(args, COMMANDS)
  const asksForHelp = args.includes('--help') || args.includes('-h') || typed[0] === 'help'
  const meant = typed[0] === 'help' ? typed.slice(1) : typed
  const command = commandOf(meant, COMMANDS)
  if (command === undefined) {
    const group = COMMANDS.filter(({ words }) => meant.length > 0 && words.startsWith(`${meant.join(' ')} `))
    if (group.length > 0) terminal[asksForHelp ? 'out' : 'err'](helpOnGroup(group))
    else if (meant.length === 0) terminal[asksForHelp ? 'out' : 'err'](helpOnAll(COMMANDS))
    else terminal.err(`error   ${noSuchCommand(meant, COMMANDS)}`)
    return asksForHelp && (group.length > 0 || meant.length === 0) ? EXIT.done : EXIT.usage
  }
  if (asksForHelp) {
    terminal.out(helpOn(command))
    return EXIT.done
  }
  return obey(command, args, terminal)
}

// By exit, since a handler that ignores its signal must not keep the process alive after the stop.
try {
  await end(await main(process.argv.slice(2)))
} catch (error) {
  terminal.status('')
  terminal.err(`error   ${isJobmillError(error) ? error.message : describe(error)}`)
  await end(exitCodeOf(error))
}

/** What nobody has read by then would be lost with the process: a pipe takes little at once. */
async function end(code: number): Promise<never> {
  await Promise.all([process.stdout, process.stderr].map(written))
  process.exit(code)
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    // Whoever read has gone.
    stream.once('error', () => resolve())
    stream.write('', () => resolve())
  })
}

/** An error of the config itself: where it is matters. */
function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
