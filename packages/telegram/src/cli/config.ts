/** The config that a command was given, or every reason why it cannot be used. */
import { isJobmillError } from 'jobmill'
import type { Given } from 'jobmill/cli'
import { readTokens } from 'jobmill/http'
import type { GatewayConfig, Problem } from '../config/config.ts'
import { collectProblems, type Problems } from '../config/problems.ts'
import { configText, type Draft, readDraft } from '../config/read-config.ts'
import { secretOf } from '../config/secrets.ts'
import type { Io } from './command.ts'

export interface Configured {
  readonly config: GatewayConfig
  /** Who may use Mission Control; undefined where nobody said. */
  readonly tokens: string | undefined
}

interface Examined extends Pick<Configured, 'tokens'> {
  /** Null when there is an error among the problems. */
  readonly config: GatewayConfig | null
  readonly draft: Draft
  readonly problems: readonly Problem[]
}

const THIS_MACHINE = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/

/** Null after the problems were printed. */
export function configured(given: Given, io: Io): Configured | null {
  const examined = examine(given, io)
  if (examined === null) return null
  const { config, tokens, problems } = examined
  for (const problem of problems) io.err(problemText(problem))
  return config === null ? null : { config, tokens }
}

/** Null after it was told that there is no config. */
export function examine(given: Given, { env, err }: Io): Examined | null {
  let source: { readonly yaml: string; readonly name: string }
  try {
    source = configText(given.text('config'), env)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    err(
      `error   the config cannot be read: ${why}\n        Name it with --config, or write telegram.yaml here`,
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
      'is not set, and others than this machine could reach Mission Control',
      'Set it, or JOBMILL_TOKENS_FILE, to a line "name role token" for each; or let admin begin with 127.0.0.1:',
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
    found.error(error.field ?? 'JOBMILL_TOKENS', 'says of nobody who may come in', error.fix ?? '')
  }
}

export function problemText({ level, place, problem, fix }: Problem): string {
  return `${level.padEnd(7)} ${place}: ${problem}\n        ${fix}`
}
