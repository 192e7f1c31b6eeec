/** Reads the config of a command, or reports every problem with it. */
import { isJobmillError } from 'jobmill'
import type { Given } from 'jobmill/cli'
import { readTokens } from 'jobmill-server'
import type { GatewayConfig, Problem } from '../config/config.ts'
import { collectProblems, type Problems } from '../config/problems.ts'
import { configText, type Draft, readDraft } from '../config/read-config.ts'
import { secretOf } from '../config/secrets.ts'
import type { Io } from './command.ts'

export interface Configured {
  readonly config: GatewayConfig
  /** The access tokens of Mission Control; undefined if not set. */
  readonly tokens: string | undefined
}

interface Examined extends Pick<Configured, 'tokens'> {
  /** Null if the problems include an error. */
  readonly config: GatewayConfig | null
  readonly draft: Draft
  readonly problems: readonly Problem[]
}

const THIS_MACHINE = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/

/** Returns null after printing the problems. */
export function loadConfig(given: Given, io: Io): Configured | null {
  const examined = examine(given, io)
  if (examined === null) return null
  const { config, tokens, problems } = examined
  for (const problem of problems) io.err(problemText(problem))
  return config === null ? null : { config, tokens }
}

/** Returns null after reporting that there is no config. */
export function examine(given: Given, { env, err }: Io): Examined | null {
  let source: { readonly yaml: string; readonly name: string }
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
  const tokens = secretOf(env, 'JOBMILL_TOKENS', found)
  const { admin = null, database } = draft
  if (admin !== null && !THIS_MACHINE.test(admin.host) && database !== null && tokens === undefined)
    found.error(
      'JOBMILL_TOKENS',
      'is not set, but Mission Control would be reachable from other machines',
      'Set it to lines of "name role token", or JOBMILL_TOKENS_FILE to a file with them; or bind admin to 127.0.0.1:PORT',
    )
  if (tokens !== undefined) refuseTokens(tokens, found)
  const isWrong = found.problems.length > 0
  return { config: isWrong ? null : config, draft, tokens, problems: [...problems, ...found.problems] }
}

function refuseTokens(tokens: string, found: Problems): void {
  try {
    readTokens(tokens, 'JOBMILL_TOKENS')
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.error(error.field ?? 'JOBMILL_TOKENS', 'contains an invalid token', error.fix ?? '')
  }
}

export function problemText({ level, place, problem, fix }: Problem): string {
  return `${level.padEnd(7)} ${place}: ${problem}\n        ${fix}`
}
