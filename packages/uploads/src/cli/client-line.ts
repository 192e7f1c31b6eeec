/** The common parts of the commands that talk to a remote inbox. They need no database. */
import { EXIT } from 'jobmill/cli'
import { ClientError, invalid } from '../client/http/client-error.ts'
import type { LineOptions } from '../client/options.ts'
import { CLIENT_VARIABLES as FROM } from '../config/unread-variables.ts'
import type { CommandInput } from './command.ts'

const FIX = {
  url: 'Pass --url https://inbox.example, or set UPLOADS_URL',
  mailbox: 'Pass --mailbox ID from "jobmill-uploads mailboxes list", or set UPLOADS_MAILBOX',
  'token-file': 'Pass --token-file FILE with a token of the mailbox, or set UPLOADS_TOKEN_FILE',
} as const

/** Reads the connection to the inbox from the options, or from the environment. */
export function lineFrom({ text, env }: CommandInput): LineOptions {
  const value = (option: keyof typeof FROM): string => {
    const given = text(option) ?? env[FROM[option]]?.trim() ?? ''
    if (given !== '') return given
    throw invalid(`--${option}`, 'is missing', FIX[option])
  }
  return { url: value('url'), mailbox: value('mailbox'), token: { file: value('token-file') } }
}

/** Renames the field of an error to the command-line option. */
function byOption(error: unknown): unknown {
  if (!(error instanceof ClientError) || error.code !== 'OPTION_INVALID' || error.field === null) return error
  const option = OPTIONS[error.field]
  if (option === undefined) return error
  const said = error.message.slice(error.field.length + 2)
  return new ClientError('OPTION_INVALID', said, { field: option })
}

const OPTIONS: Readonly<Record<string, string>> = {
  url: '--url',
  mailbox: '--mailbox',
  token: '--token-file',
  keepFor: '--keep',
  concurrency: '--concurrency',
  folder: 'DIR',
}

export function clientExitCode({ code, status }: ClientError): number {
  if (code === 'OPTION_INVALID' || code === 'TOKEN_UNREADABLE' || code === 'FILE_UNREADABLE')
    return EXIT.usage
  // With a full mailbox or disk, the inbox is reachable but refuses.
  if (status === 507) return EXIT.refused
  if (code === 'UNREACHABLE' || code === 'ANSWER_BAD' || (status ?? 0) >= 500) return EXIT.unavailable
  return EXIT.refused
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface Transfer {
  readonly err: (line: string) => void
  /** The text for a transfer that a signal stopped. */
  readonly stopped: () => string
  /** Runs before a line is printed. */
  readonly before?: () => void
}

/**
 * Runs a transfer. The first signal, such as Ctrl+C, aborts it; the second one ends the process. Resolves to
 * the exit code.
 */
export async function transfer(
  { err, stopped, before = () => {} }: Transfer,
  act: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const stopping = new AbortController()
  const onSignal = (): void => {
    if (stopping.signal.aborted) process.exit(130)
    before()
    err('stop    aborting transfers; press Ctrl+C again to exit immediately')
    stopping.abort()
  }
  for (const name of SIGNALS) process.on(name, onSignal)
  try {
    return await act(stopping.signal)
  } catch (error) {
    before()
    if (!stopping.signal.aborted) throw byOption(error)
    err(stopped())
    return EXIT.failed
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal)
  }
}
