/** The config that a command was given, or every reason why it cannot be used. */
import { isJobmillError } from 'jobmill'
import type { Given } from 'jobmill/cli'
import { readTokens } from 'jobmill/http'
import type { GatewayConfig, Problem } from '../config/config.ts'
import { findings, type Findings } from '../config/findings.ts'
import { configText, readConfig } from '../config/read-config.ts'
import { secretOf } from '../config/secrets.ts'
import type { Io } from './command.ts'

export interface Configured {
  readonly config: GatewayConfig
  /** Who may use Mission Control; undefined where nobody said. */
  readonly tokens: string | undefined
}

const THIS_MACHINE = /^(?:127\.\d+\.\d+\.\d+|::1|localhost)$/

/** Null after the problems were printed. */
export function configured(given: Given, { env, err }: Io): Configured | null {
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
  const { config, problems } = readConfig({ ...source, env })
  const found = findings()
  const tokens = secretOf(env, 'JOBMILL_TOKENS', found)
  const isOpen = config !== null && config.admin !== null && !THIS_MACHINE.test(config.admin.host)
  if (isOpen && config.database !== null && tokens === undefined)
    found.error(
      'JOBMILL_TOKENS',
      'is not set, and others than this machine could reach Mission Control',
      'Set it, or JOBMILL_TOKENS_FILE, to a line "name role token" for each; or let admin begin with 127.0.0.1:',
    )
  if (tokens !== undefined) refuseTokens(tokens, found)
  for (const problem of [...problems, ...found.problems]) err(problemText(problem))
  return config === null || found.problems.length > 0 ? null : { config, tokens }
}

function refuseTokens(tokens: string, found: Findings): void {
  try {
    readTokens(tokens, 'JOBMILL_TOKENS')
  } catch (error) {
    if (!isJobmillError(error)) throw error
    found.error(error.field ?? 'JOBMILL_TOKENS', 'says of nobody who may come in', error.fix ?? '')
  }
}

function problemText({ level, place, problem, fix }: Problem): string {
  return `${level.padEnd(7)} ${place}: ${problem}\n        ${fix}`
}
