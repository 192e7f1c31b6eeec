/** Reads the YAML and the environment into a config, or reports all problems. */
import { readFileSync } from 'node:fs'
import { addressOf, apiRootOf, databaseOf, publicUrlOf } from './addresses.ts'
import { type BotConfig, type GatewayConfig, LOG_LEVELS, type Problem } from './config.ts'
import { collectProblems, type Problems, typeOf } from './problems.ts'
import { readValue, type SettingValue, nonBlank } from './read-value.ts'
import { authOf } from './read-auth.ts'
import { type BotSources, isSlug, readBot, usersOf } from './read-bot.ts'
import { queueOf } from './read-queue.ts'
import { sourcesOf } from './read-sources.ts'
import { readYaml, Section } from './section.ts'
import type { Env } from './secrets.ts'
import { refuseSameNames, warnOfUnread } from './variables.ts'

export interface ConfigSources {
  /** The text of the YAML. */
  readonly yaml: string
  /** The name of the file in problems. */
  readonly name?: string
  readonly env: Env
  /** The names of handlers that are passed in code. */
  readonly handlers?: readonly string[]
}

export interface ReadConfig {
  /** Null if the problems include an error. */
  readonly config: GatewayConfig | null
  readonly problems: readonly Problem[]
}

const WEBHOOK = { host: '127.0.0.1', port: 8443 }
const ADMIN = { host: '127.0.0.1', port: 8787 }
const DAY_MS = 24 * 3_600_000
const BODY_BYTES = 1_024 * 1_024

export function readConfig(sources: ConfigSources): ReadConfig {
  const { config, problems } = readDraft(sources)
  return { config, problems }
}

/** The parts that can be read despite errors elsewhere, so that a caller can check them too. */
export type Draft = Pick<GatewayConfig, 'database'> & Partial<Pick<GatewayConfig, 'admin'>>

export function readDraft({
  yaml,
  name = 'the config',
  env,
  handlers = [],
}: ConfigSources): ReadConfig & { readonly draft: Draft } {
  const found = collectProblems()
  const { problems } = found
  const root = readYaml(yaml, name, found)
  const queue = queueOf(env, found)
  if (root === null) {
    const nothing = new Section([], {}, { name, found, lineOf: () => null })
    return { config: null, problems, draft: { database: databaseOf(nothing, env, found) } }
  }
  const draft = configOf(root, env, handlers, found)
  const isWrong = problems.some(({ level }) => level === 'error')
  return { config: isWrong ? null : { ...draft, ...queue }, problems, draft }
}

/** `admin: false`; in the environment every value is a string. */
function isOff(value: unknown): boolean {
  return value === false || value === 'false'
}

function configOf(
  root: Section,
  env: Env,
  handlers: readonly string[],
  found: Problems,
): Omit<GatewayConfig, 'retention' | 'leaseMs'> {
  const database = databaseOf(root, env, found)
  const bots = botsOf(root, { env, found, own: handlers, hasDatabase: database !== null })
  const listen = addressOf(readValue(root, 'listen', env, 'LISTEN'), WEBHOOK, found)
  const adminAt = readValue(root, 'admin', env, 'ADMIN_LISTEN')
  const admin = isOff(adminAt.value) ? null : addressOf(adminAt, ADMIN, found)
  if (admin !== null && admin.port !== 0 && admin.port === listen.port && admin.host === listen.host)
    found.error(
      adminAt.place,
      'must differ from the address of webhooks',
      'Use another port for Mission Control',
    )
  const config = {
    auth: authOf(root.section('auth'), bots, env, found),
    bots,
    database,
    publicUrl: publicUrlOf(root, env, found),
    mode: root.oneOf('mode', 'webhook', ['webhook', 'polling']),
    listen,
    admin,
    apiRoot: apiRootOf(root, env, found),
    logLevel: logLevelOf(readValue(root, 'logLevel', env, 'LOG_LEVEL'), found),
    dedupeMs: dedupeOf(root, found),
    maxBodyBytes: root.whole('maxBodyBytes', BODY_BYTES, { least: 1_024, most: 16 * BODY_BYTES }),
    sources: sourcesOf(root, found),
  }
  root.refuseOthers()
  return config
}

function botsOf(root: Section, sources: BotSources): BotConfig[] {
  const { env, found } = sources
  const section = root.section('bots')
  const all = usersOf(allowedIn(root, env, found), found)
  const bots = section.names.map((slug) => {
    const bot = readBot(slug, section.section(slug), sources)
    return { ...bot, allowedUsers: bot.allowedUsers ?? all }
  })
  if (section.names.length === 0 && root.isRead && section.isRead)
    found.error(root.at(), 'has no bots', 'Add bots: with a slug and its handler')
  refuseTwins(
    bots.filter(({ slug }) => isSlug(slug)),
    section,
    found,
  )
  refuseSameNames(section.names.filter(isSlug), found)
  warnOfUnread(section.names, env, found)
  return bots
}

function logLevelOf({ value = 'info', place }: SettingValue, found: Problems): GatewayConfig['logLevel'] {
  const level = LOG_LEVELS.find((one) => one === value)
  if (level === undefined)
    found.error(place, `must be a log level (got ${typeOf(value)})`, `Use one of ${LOG_LEVELS.join(', ')}`)
  return level ?? 'info'
}

/** A variable holds the user ids as a comma-separated list. */
function allowedIn(root: Section, env: Env, found: Problems): SettingValue {
  if (env['ALLOWED_USERS']?.trim() === '')
    found.error('ALLOWED_USERS', 'has no value', 'Unset it, or list user ids: 123456789,987654321')
  const { value, place } = readValue(root, 'allowedUsers', env, 'ALLOWED_USERS')
  if (place !== 'ALLOWED_USERS') return { value, place }
  const parts = String(value)
    .split(',')
    .map((part) => part.trim())
  return {
    value: parts
      .filter((part) => part !== '')
      .map((part) => (/^\d+$/.test(part) ? Number(part) : Number.NaN)),
    place,
  }
}

/**
 * Reads the first that is given: the named file, TELEGRAM_CONFIG_YAML, the file that TELEGRAM_CONFIG names,
 * or else telegram.yaml.
 */
export function configText(
  file: string | undefined,
  env: Env,
): { readonly yaml: string; readonly name: string } {
  const inline = nonBlank(env['TELEGRAM_CONFIG_YAML'])
  if (file === undefined && inline !== undefined) return { yaml: inline, name: 'TELEGRAM_CONFIG_YAML' }
  const name = file ?? nonBlank(env['TELEGRAM_CONFIG']) ?? 'telegram.yaml'
  return { yaml: readFileSync(name, 'utf8'), name }
}

function refuseTwins(bots: readonly BotConfig[], section: Section, found: Problems): void {
  const seen = new Map<number, string>()
  for (const { id, slug } of bots) {
    const other = seen.get(id)
    if (other !== undefined && id !== 0)
      found.error(
        section.at(slug),
        `has a token of the same Telegram bot as ${other}`,
        'Use one token per bot: Telegram delivers each update only once',
      )
    seen.set(id, slug)
  }
}

/** Telegram keeps an update for 24 h and may deliver it again until then. */
function dedupeOf(root: Section, found: Problems): number {
  const ms = root.duration('dedupe', 7 * DAY_MS)
  if (ms < DAY_MS)
    found.error(
      root.at('dedupe'),
      'must be at least 24h: Telegram may redeliver an update for that long',
      "Write '24h' or more",
    )
  return ms
}
