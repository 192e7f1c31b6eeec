/** Reads the YAML and the environment into a config, or reports all problems. */
import { readFileSync } from 'node:fs'
import { addressOf, apiRootOf, databaseOf, publicUrlOf, sourcesOf } from './addresses.ts'
import { type BotConfig, type GatewayConfig, LOG_LEVELS, type Problem } from './config.ts'
import { collectProblems, typeOf } from './problems.ts'
import { authOf } from './read-auth.ts'
import { type BotSources, isSlug, readBot, usersOf } from './read-bot.ts'
import { queueOf } from './read-queue.ts'
import { readYaml, Section, type SettingValue } from './section.ts'
import { type Env, nonBlank } from './secrets.ts'
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
  const root = readYaml(yaml, name, env, found)
  const queue = queueOf(env, found)
  if (root === null) {
    const nothing = new Section([], {}, { name, env, found, lineOf: () => null })
    return { config: null, problems, draft: { database: databaseOf(nothing) } }
  }
  const draft = configOf(root, handlers)
  const isWrong = problems.some(({ level }) => level === 'error')
  return { config: isWrong ? null : { ...draft, ...queue }, problems, draft }
}

function configOf(root: Section, handlers: readonly string[]): Omit<GatewayConfig, 'retention' | 'leaseMs'> {
  const database = databaseOf(root)
  const bots = botsOf(root, { own: handlers, hasDatabase: database !== null })
  const listen = addressOf(root.setting('listen', 'LISTEN'), WEBHOOK)
  const adminSetting = root.setting('admin', 'ADMIN_LISTEN')
  // In the environment every value is a string.
  const isOff = adminSetting.value === false || adminSetting.value === 'false'
  const admin = isOff ? null : addressOf(adminSetting, ADMIN)
  if (admin !== null && admin.port !== 0 && admin.port === listen.port && admin.host === listen.host)
    adminSetting.at.error('must differ from the address of webhooks', 'Use another port for Mission Control')
  const config = {
    auth: authOf(root.section('auth'), bots),
    bots,
    database,
    publicUrl: publicUrlOf(root),
    mode: root.oneOf('mode', 'webhook', ['webhook', 'polling']),
    listen,
    admin,
    apiRoot: apiRootOf(root),
    logLevel: logLevelOf(root),
    dedupeMs: dedupeOf(root),
    maxBodyBytes: root.whole('maxBodyBytes', BODY_BYTES, { least: 1_024, most: 16 * BODY_BYTES }),
    sources: sourcesOf(root),
  }
  root.refuseOthers()
  return config
}

function botsOf(root: Section, sources: BotSources): BotConfig[] {
  const { env, found } = root
  const section = root.section('bots')
  const all = usersOf(allowedIn(root))
  const bots = section.names.map((slug) => {
    const bot = readBot(slug, section.section(slug), sources)
    return { ...bot, allowedUsers: bot.allowedUsers ?? all }
  })
  if (section.names.length === 0 && root.isRead && section.isRead)
    root.at().error('has no bots', 'Add bots: with a slug and its handler')
  refuseTwins(bots, section)
  refuseSameNames(section.names.filter(isSlug), found)
  warnOfUnread(section.names, env, found)
  return bots
}

function logLevelOf(root: Section): GatewayConfig['logLevel'] {
  const { value = 'info', at } = root.setting('logLevel', 'LOG_LEVEL')
  const level = LOG_LEVELS.find((one) => one === value)
  if (level === undefined)
    at.error(`must be a log level (got ${typeOf(value)})`, `Use one of ${LOG_LEVELS.join(', ')}`)
  return level ?? 'info'
}

/** A variable holds the user ids as a comma-separated list. */
function allowedIn(root: Section): SettingValue {
  const setting = root.setting('allowedUsers', 'ALLOWED_USERS')
  if (root.env['ALLOWED_USERS']?.trim() === '')
    root.found.at('ALLOWED_USERS').error('has no value', 'Unset it, or list user ids: 123456789,987654321')
  if (setting.at.place !== 'ALLOWED_USERS') return setting
  const ids = String(setting.value)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  return { ...setting, value: ids.map((id) => (/^\d+$/.test(id) ? Number(id) : Number.NaN)) }
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

const ONE_TOKEN = 'Use one token per bot: Telegram delivers each update only once'

function refuseTwins(bots: readonly BotConfig[], section: Section): void {
  const valid = bots.filter(({ id, slug }) => id !== 0 && isSlug(slug))
  for (const [n, { id, slug }] of valid.entries()) {
    const other = valid.slice(0, n).findLast((one) => one.id === id)
    if (other !== undefined)
      section.at(slug).error(`has a token of the same Telegram bot as ${other.slug}`, ONE_TOKEN)
  }
}

/** Telegram keeps an update for 24 h and may deliver it again until then. */
function dedupeOf(root: Section): number {
  const at = root.at('dedupe')
  const ms = root.duration('dedupe', 7 * DAY_MS)
  if (ms < DAY_MS)
    at.error('must be at least 24h: Telegram may redeliver an update for that long', 'Set it to 24h or more')
  return ms
}
