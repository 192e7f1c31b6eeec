#!/usr/bin/env node
/** The entry point of the `jobmill` command. */
import { isJobmillError } from '../job/errors.ts'
import { endWith } from './program/end-with.ts'
import { exitCodeOf } from './program/exit-code.ts'
import { ours } from './commands.ts'
import { safeLines } from '../job/text/safe-text.ts'
import { obeyProgram } from './program/program.ts'
import { terminal } from './output/terminal.ts'

try {
  await endWith(await obeyProgram(ours(terminal), process.argv.slice(2), terminal))
} catch (error) {
  terminal.status('')
  terminal.err(safeLines(`error   ${isJobmillError(error) ? error.message : describe(error)}`))
  await endWith(exitCodeOf(error))
}

/** Errors thrown by the config itself include the stack trace, which shows where they happened. */
function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
