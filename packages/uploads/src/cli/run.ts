/** The command line: finds the command, and turns errors into a line and an exit code. */
import { parseArgs } from 'node:util'
import { isJobmillError } from 'jobmill'
import { ConfigInvalid, type Env, readConfig } from '../config/read-config.ts'
import { ClientError } from '../client/client-error.ts'
import { clientExitCode } from './client-line.ts'
import { type Command, EXIT, type Given, optionsOf } from './command.ts'
import { COMMANDS } from './commands.ts'
import { helpOn, helpOnAll } from './help.ts'

export interface Io {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  readonly env: Env
}

/** The one with the most words that fits. */
function commandOf(typed: readonly string[]): Command | undefined {
  return COMMANDS.filter(({ words }) => `${typed.join(' ')} `.startsWith(`${words} `))
    .toSorted((a, b) => b.words.length - a.words.length)
    .at(0)
}

function givenOf(command: Command, args: readonly string[], { out, err, env }: Io): Given {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(optionsOf(command)).map(([name, [takes]]) => [
        name,
        { type: takes === null ? ('boolean' as const) : ('string' as const) },
      ]),
    ),
  })
  const text = (option: string): string | undefined => {
    const value = values[option]
    return typeof value === 'string' ? value : undefined
  }
  return {
    words: positionals.slice(command.words.split(' ').length),
    text,
    has: (option) => values[option] === true,
    config: () =>
      readConfig(text('config'), {
        ...env,
        ...(text('db') !== undefined && { DATABASE_URL: text('db') }),
        ...(text('port') !== undefined && { UPLOADS_PORT: text('port') }),
        ...(text('bind') !== undefined && { UPLOADS_BIND: text('bind') }),
      }),
    env,
    out,
    err,
  }
}

async function find(args: readonly string[], io: Io): Promise<number> {
  const { out, err } = io
  const asksForHelp = args.includes('--help') || args.includes('-h')
  const typed = args.filter((word) => !word.startsWith('-'))
  const command = commandOf(typed)
  if (command === undefined) {
    if (typed.length > 0) err(`error   there is no command "${typed.slice(0, 3).join(' ')}"`)
    const tell = asksForHelp ? out : err
    tell(helpOnAll(COMMANDS))
    return asksForHelp ? EXIT.done : EXIT.usage
  }
  if (asksForHelp) {
    out(helpOn(command))
    return EXIT.done
  }
  const given = givenOf(command, args, io)
  const [least, most] = command.arguments ?? [0, 0]
  if (given.words.length < least || given.words.length > most) {
    err(
      `error   ${command.words} takes ${command.takes ?? 'nothing'}. jobmill-uploads ${command.words} --help says more`,
    )
    return EXIT.usage
  }
  return command.run(given)
}

function exitCodeOf(error: unknown): number {
  if (error instanceof ClientError) return clientExitCode(error)
  if (!isJobmillError(error)) return isUsage(error) ? EXIT.usage : EXIT.failed
  return error.code.startsWith('STORE_') ? EXIT.unavailable : EXIT.usage
}

function isUsage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
}

/** The exit code. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { err } = io
  try {
    return await find(args, io)
  } catch (error) {
    if (error instanceof ConfigInvalid)
      for (const { place, message } of error.problems) err(`error   ${place}: ${message}`)
    else if (isJobmillError(error) || isUsage(error) || error instanceof ClientError)
      err(`error   ${(error as Error).message}`)
    else err(`error   ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    return exitCodeOf(error)
  }
}
