/** The command line: its commands and their common options. */
import { type Option, runProgram } from 'jobmill/cli'
import { VERSION } from '../version.ts'
import { bots } from './bots.ts'
import { check } from './check.ts'
import { codes } from './codes.ts'
import type { Command, Io } from './command.ts'
import { start } from './start.ts'

const INTRODUCTION = `jobmill-telegram: run many Telegram bots behind one gateway

The config is telegram.yaml in this folder, the file that TELEGRAM_CONFIG names, or the text in TELEGRAM_CONFIG_YAML. Tokens and secrets
come from the environment.`

const COMMON: Readonly<Record<string, Option>> = {
  config: { takes: 'FILE', short: 'c', says: 'config file (default telegram.yaml)' },
  help: { short: 'h', says: 'show this help' },
}

export const COMMANDS: readonly Command[] = [check, start, ...codes, bots]

/** Resolves to the exit code. */
export function run(args: readonly string[], io: Io): Promise<number> {
  return runProgram(
    {
      name: 'jobmill-telegram',
      version: VERSION,
      introduction: INTRODUCTION,
      reaches: 'Telegram',
      refused: 'Telegram rejected a token',
      commands: COMMANDS,
      common: () => COMMON,
      run: (command: Command, given) => command.run(given, io),
    },
    args,
    io,
  )
}
