/** `jobmill-telegram check | start | codes | bots`. */
import { JobmillError, isJobmillError } from 'jobmill'
import { bots } from './bots.ts'
import { check } from './check.ts'
import { codes } from './codes.ts'
import { start } from './start.ts'

const HELP = `jobmill-telegram: many Telegram bots behind one door

  check                 reads the config and says all that is wrong with it
  start [--poll]        starts the gateway; --poll asks Telegram for updates, for machines that it cannot call
  codes new             makes a code that opens a session once
        [--bot SLUG]…   for these bots (default: every bot)
        [--user ID]     for this user alone
        [--ttl 1h]      as long as it works
  codes list            codes that have not expired, and who used them
  bots                  the bots, and how Telegram fares with sending them updates

  --config FILE         the config (default telegram.yaml, or TELEGRAM_CONFIG, or the text in TELEGRAM_CONFIG_YAML)

Exit codes: 0 done, 1 failed, 2 wrong arguments or config`

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  check,
  start,
  codes,
  bots,
}

async function main([word, ...args]: readonly string[]): Promise<number> {
  if (
    word === undefined ||
    word === 'help' ||
    word === '--help' ||
    word === '-h' ||
    args.includes('--help')
  ) {
    console.log(HELP)
    return word === undefined ? 2 : 0
  }
  const command = COMMANDS[word]
  if (command !== undefined) return command(args)
  console.error(
    `error   there is no command ${JSON.stringify(word)}: there are ${Object.keys(COMMANDS).join(', ')}`,
  )
  return 2
}

try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  const isUsage =
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  const text =
    isJobmillError(error) || isUsage
      ? (error as Error).message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error)
  console.error(`error   ${text}`)
  process.exit(isUsage || (error instanceof JobmillError && error.code === 'OPTION_INVALID') ? 2 : 1)
}
