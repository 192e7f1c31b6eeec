/** What a command is, and the config that it gets. */
import { isJobmillError } from 'jobmill'
import { EXIT, type Given, type Lines, type Shape } from 'jobmill/cli'
import { isLoopback, readTokens } from 'jobmill-server'
import type { GatewayConfig } from '../config/config.ts'
import { collectProblems, type Problems } from '../config/problems.ts'
import { configText, readDraft } from '../config/read-config.ts'
import { type Env, secretOf } from '../config/secrets.ts'

/** The output and the environment of a command. */
export interface Io extends Lines {
  readonly env: Env
}

export interface Command extends Shape {
  readonly run: (given: Given, io: Io) => Promise<number>
}

interface Configured {
  readonly config: GatewayConfig
  /** The access tokens of Mission Control; undefined if not set. */
  readonly tokens: string | undefined
}

/** Runs a command that needs a valid config. */
export function withConfig(
  act: (found: Configured, given: Given, io: Io) => Promise<number>,
): Command['run'] {
  return async (given, io) => {
    const { config = null, tokens } = examine(given, io) ?? {}
    return config === null ? EXIT.usage : act({ config, tokens }, given, io)
  }
}

/**
 * Prints all problems; the config is null if they include an error. Returns null after reporting that there
 * is no config.
 */
export function examine(given: Given, { env, err }: Io) {
  let source: ReturnType<typeof configText>
  try {
    source = configText(given.text('config'), env)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    err(
      `error   cannot read the config: ${why}\n        Pass it with --config, or create telegram.yaml in this folder`,
    )
    return null
  }
  const { config, draft, problems } = readDraft({ ...source, env })
  const found = collectProblems()
  const tokensAt = found.at('JOBMILL_TOKENS')
  const tokens = secretOf(env, 'JOBMILL_TOKENS', found)
  const { admin = null, database } = draft
  if (admin !== null && !isLoopback(admin.host) && database !== null && tokens === undefined)
    tokensAt.error(
      'is not set, but Mission Control would be reachable from other machines',
      'Set it to lines of "name role token", or JOBMILL_TOKENS_FILE to a file with them; or bind admin to 127.0.0.1:PORT',
    )
  if (tokens !== undefined) refuseTokens(tokens, found)
  for (const { level, place, problem, fix } of [...problems, ...found.problems])
    err(`${level.padEnd(7)} ${place}: ${problem}\n        ${fix}`)
  return { config: found.problems.length > 0 ? null : config, draft, tokens }
}

function refuseTokens(tokens: string, found: Problems): void {
  try {
    readTokens(tokens, 'JOBMILL_TOKENS')
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.at(error.field ?? 'JOBMILL_TOKENS').error('contains an invalid token', error.fix ?? '')
  }
}
