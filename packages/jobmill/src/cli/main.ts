#!/usr/bin/env node
/** The process of the command line. */
import { isJobmillError } from '../job/errors.ts'
import { exitCodeOf } from './exit-code.ts'
import { ours } from './ours.ts'
import { obeyProgram } from './program.ts'
import { terminal } from './terminal.ts'

// By exit, since a handler that ignores its signal must not keep the process alive after the stop.
try {
  await end(await obeyProgram(ours(terminal), process.argv.slice(2), terminal))
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
