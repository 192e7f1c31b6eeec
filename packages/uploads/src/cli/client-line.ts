/** What the commands that talk to an inbox elsewhere have in common. Nothing here needs a database. */
import { EXIT } from 'jobmill/cli'
import { ClientError } from '../client/client-error.ts'
import type { LineOptions } from '../client/options.ts'
import { CLIENT_VARIABLES as FROM } from '../config/unread-variables.ts'
import type { Given } from './command.ts'

const FIX = {
  url: 'Give --url https://inbox.example, or set UPLOADS_URL',
  mailbox: 'Give --mailbox ID as "jobmill-uploads mailboxes list" has it, or set UPLOADS_MAILBOX',
  'token-file': 'Give --token-file FILE with a token of the mailbox, or set UPLOADS_TOKEN_FILE',
} as const

/** From the options, else from the environment. */
export function lineFrom({ text, env }: Given): LineOptions {
  const value = (option: keyof typeof FROM): string => {
    const given = text(option) ?? env[FROM[option]]?.trim() ?? ''
    if (given !== '') return given
    throw new ClientError('OPTION_INVALID', 'is missing', { field: `--${option}`, fix: FIX[option] })
  }
  return { url: value('url'), mailbox: value('mailbox'), token: { file: value('token-file') } }
}

/** The same, said by option instead of by field. */
export function byOption(error: unknown): unknown {
  if (!(error instanceof ClientError) || error.code !== 'OPTION_INVALID' || error.field === null) return error
  const option = OPTIONS[error.field]
  if (option === undefined) return error
  const said = error.message.slice(error.field.length + 1)
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
  // A mailbox or a disk that is full is there, and says no.
  if (status === 507) return EXIT.refused
  if (code === 'UNREACHABLE' || code === 'ANSWER_BAD' || (status ?? 0) >= 500) return EXIT.unavailable
  return EXIT.refused
}

/** Fires with the first Ctrl-C; the second ends the process. `done` gives the signals back. `before`: what has to be done before a line is written. */
export function stopSignal(
  err: (line: string) => void,
  before: () => void = () => {},
): {
  readonly signal: AbortSignal
  readonly done: () => void
} {
  const stopping = new AbortController()
  const onSignal = (): void => {
    if (stopping.signal.aborted) process.exit(130)
    before()
    err('stop    what is on its way is broken off; again to end at once')
    stopping.abort()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return {
    signal: stopping.signal,
    done: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal),
  }
}
