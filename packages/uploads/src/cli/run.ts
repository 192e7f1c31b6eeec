/** The command line: its commands and their common options. */
import { EXIT, type Explained, runProgram } from 'jobmill/cli'
import { ClientError } from '../client/http/client-error.ts'
import { ConfigInvalid, readConfig } from '../config/read-config.ts'
import { VERSION } from '../version.ts'
import { unreadVariables } from '../config/unread-variables.ts'
import { check } from './check.ts'
import { clientExitCode } from './client-line.ts'
import { type Command, commonOptions, type Io } from './command.ts'
import { mailboxCommands } from './mailboxes.ts'
import { pull } from './pull.ts'
import { start } from './start.ts'
import { upload } from './upload.ts'

export const COMMANDS: readonly Command[] = [start, check, ...mailboxCommands, pull, upload]

const INTRODUCTION = `jobmill-uploads: a file upload inbox for consumers behind NAT

The inbox reads jobmill-uploads.yaml in this folder, if it exists. Environment variables override it.`

/** The README has the same text. */
const REFUSED = 'refused (unknown mailbox, wrong token, file too large, or mailbox full)'

/** Resolves to the exit code. */
export function run(args: readonly string[], io: Io): Promise<number> {
  return runProgram(
    {
      name: 'jobmill-uploads',
      version: VERSION,
      introduction: INTRODUCTION,
      reaches: 'the inbox',
      refused: REFUSED,
      commands: COMMANDS,
      common: commonOptions,
      run: (command: Command, given) => {
        for (const { place, message } of unreadVariables(io.env)) io.err(`warning ${place}: ${message}`)
        return command.run({
          ...given,
          ...io,
          config: () =>
            readConfig(given.text('config'), io.env, {
              database: ['--db', given.text('db')],
              port: ['--port', given.text('port')],
              bind: ['--bind', given.text('bind')],
              adminPort: ['--admin-port', given.text('admin-port')],
              adminBind: ['--admin-bind', given.text('admin-bind')],
            }),
        })
      },
      explain,
    },
    args,
    io,
  )
}

function explain(error: unknown): Explained | undefined {
  if (error instanceof ConfigInvalid)
    return { lines: error.problems.map(({ place, message }) => `${place}: ${message}`), code: EXIT.usage }
  if (error instanceof ClientError) {
    // The user of a command knows its files and options, not the HTTP headers.
    const said =
      error.status === 401
        ? 'the inbox rejected the token for this mailbox. Check --token-file and --mailbox, or UPLOADS_TOKEN_FILE and UPLOADS_MAILBOX'
        : error.message
    return { lines: [said], code: clientExitCode(error) }
  }
  return undefined
}
