/** From YAML and the environment to a config, or to all that is wrong with them. */
import { readFileSync } from 'node:fs'
import type { Address, AuthConfig, BotConfig, GatewayConfig, Problem } from './config.ts'
import { durationAt, findings, type Findings, readYaml, type Section, typeOf } from './findings.ts'
import { readBot, usersOf } from './read-bot.ts'
import { botVariable, type Env, secretOf } from './secrets.ts'

export interface ConfigSources {
  /** The text of the YAML. */
  readonly yaml: string
  /** What it is called in problems. */
  readonly name?: string
  readonly env: Env
  /** Names of handlers that are given in code. */
  readonly handlers?: readonly string[]
}

export interface ReadConfig {
  /** Null when there is an error among the problems. */
  readonly config: GatewayConfig | null
  readonly problems: readonly Problem[]
}

const DEFAULT_FILE = 'telegram.db'
const WEBHOOK_PORT = 8443
const ADMIN_PORT = 8787
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MINUTE_MS = 60_000
const BODY_BYTES = 1_024 * 1_024

export function readConfig({ yaml, name = 'the config', env, handlers = [] }: ConfigSources): ReadConfig {
  const found = findings()
  const root = readYaml(yaml, name, found)
  const database = databaseOf(root, env, found)
  const sources = { env, found, own: handlers, hasDatabase: database !== null }
  const section = root.section('bots')
  const all = usersOf(
    root.list('allowedUsers') ?? listOf(env['ALLOWED_USERS']),
    root.at('allowedUsers'),
    found,
  )
  const bots = section.names.flatMap((slug) => {
    const bot = readBot(slug, section.section(slug), sources)
    return bot === null ? [] : [{ ...bot, allowedUsers: bot.allowedUsers ?? all }]
  })
  if (section.names.length === 0)
    found.error(name, 'has no bots', 'Write bots: and below it a slug with its handler')
  refuseTwins(bots, found)
  refuseSameNames(section.names, found)
  const config: GatewayConfig = {
    auth: authOf(root.section('auth'), bots, env, found),
    bots,
    database,
    publicUrl: publicUrlOf(root, env, found),
    mode: root.oneOf('mode', 'webhook', ['webhook', 'polling']),
    listen: addressOf(
      root.text('listen') ?? env['LISTEN'],
      { host: '127.0.0.1', port: WEBHOOK_PORT },
      root.at('listen'),
      found,
    ),
    admin:
      root.get('admin') === false
        ? null
        : addressOf(
            root.text('admin') ?? env['ADMIN_LISTEN'],
            { host: '127.0.0.1', port: ADMIN_PORT },
            root.at('admin'),
            found,
          ),
    apiRoot: root.text('apiRoot') ?? set(env['TELEGRAM_API_ROOT']) ?? 'https://api.telegram.org',
    dedupeMs: dedupeOf(root, found),
    maxBodyBytes: root.whole('maxBodyBytes', BODY_BYTES, { least: 1_024, most: 16 * BODY_BYTES }),
    ...queueOf(env, found),
  }
  if (!/^https?:$/.test(URL.canParse(config.apiRoot) ? new URL(config.apiRoot).protocol : ''))
    found.error(
      root.at('apiRoot'),
      `is ${typeOf(config.apiRoot)}`,
      'Write https://api.telegram.org, or leave it out',
    )
  const { listen, admin } = config
  if (admin !== null && admin.port !== 0 && admin.port === listen.port && admin.host === listen.host)
    found.error(root.at('admin'), 'is where updates arrive', 'Give Mission Control a port of its own')
  root.refuseOthers()
  const isWrong = found.problems.some(({ level }) => level === 'error')
  return { config: isWrong ? null : config, problems: found.problems }
}

/** The file that is named, or what TELEGRAM_CONFIG_YAML holds. */
export function configText(
  file: string | undefined,
  env: Env,
): { readonly yaml: string; readonly name: string } {
  const inline = set(env['TELEGRAM_CONFIG_YAML'])
  if (file === undefined && inline !== undefined) return { yaml: inline, name: 'TELEGRAM_CONFIG_YAML' }
  const name = file ?? set(env['TELEGRAM_CONFIG']) ?? 'telegram.yaml'
  return { yaml: readFileSync(name, 'utf8'), name }
}

function databaseOf(root: Section, env: Env, found: Findings): string | null {
  const store = root.text('store')
  if (store === 'none') return null
  const url = set(env['DATABASE_URL'])
  if (store !== undefined && /^postgres(?:ql)?:\/\/[^/]*:[^/]*@/.test(store))
    found.error(root.at('store'), 'has a password in it', 'Set DATABASE_URL instead')
  return store ?? url ?? DEFAULT_FILE
}

function refuseTwins(bots: readonly BotConfig[], found: Findings): void {
  const seen = new Map<number, string>()
  for (const { id, slug } of bots) {
    const other = seen.get(id)
    if (other !== undefined && id !== 0)
      found.error(
        `bots.${slug}`,
        `has the token of ${other}`,
        'Give each bot its own: Telegram sends an update once',
      )
    seen.set(id, slug)
  }
}

/** `a` and `a-http` would both have BOT_A_HTTP_SECRET: the one to sign with, the other to be called with. */
function refuseSameNames(slugs: readonly string[], found: Findings): void {
  const ofAll = slugs.flatMap((slug) =>
    ['TOKEN', 'SECRET', 'SECRET_OLD', 'HTTP_SECRET'].map((what) => ({ slug, name: botVariable(slug, what) })),
  )
  for (const { slug, name } of ofAll) {
    const other = ofAll.find((one) => one.name === name && one.slug < slug)
    if (other !== undefined)
      found.error(`bots.${slug}`, `would share ${name} with ${other.slug}`, 'Give one of them another slug')
  }
}

function authOf(section: Section, bots: readonly BotConfig[], env: Env, found: Findings): AuthConfig | null {
  const ttlMs = durationAt(
    section.get('sessionTtl') ?? set(env['AUTH_SESSION_TTL']),
    DAY_MS,
    'AUTH_SESSION_TTL',
    found,
  )
  if (ttlMs === 0) found.error(section.at('sessionTtl'), 'ends sessions as they begin', "Write '24h'")
  const given = section.list('scope') ?? ['*']
  const scope = given.filter((one): one is string => typeof one === 'string')
  if (scope.length === 0 || scope.length < given.length)
    found.error(section.at('scope'), 'has to name bots', "Write ['*'] for all of them")
  for (const slug of scope)
    if (slug !== '*' && !bots.some((bot) => bot.slug === slug))
      found.error(
        section.at('scope'),
        `names ${typeOf(slug)}, which is no bot`,
        `Name ${bots.map((bot) => bot.slug).join(', ')} or *`,
      )
  section.refuseOthers()
  const secret = secretOf(env, 'AUTH_SECRET', found)
  const needs = bots.filter(({ handler, requireAuth }) => handler === 'auth' || requireAuth)
  if (needs.length > 0 && secret === undefined) {
    const slugs = needs.map(({ slug }) => slug).join(', ')
    found.error(
      'AUTH_SECRET',
      `is not set, and ${slugs} cannot let anybody in without`,
      'Set it to 16 or more random characters, or write requireAuth: false for bots that are for everybody',
    )
  }
  if (secret !== undefined && secret.length < 8)
    found.error('AUTH_SECRET', 'is short enough to be guessed', 'Use 16 or more random characters')
  else if (secret !== undefined && secret.length < 16)
    found.warn('AUTH_SECRET', 'is rather short', 'Use 16 or more random characters')
  if (bots.some(({ requireAuth }) => requireAuth) && !bots.some(({ handler }) => handler === 'auth'))
    found.warn(
      'bots',
      'need a session, and none of them has the handler auth, where one begins',
      'Add a bot with handler: auth, or write requireAuth: false',
    )
  return secret === undefined ? null : { secret, ttlMs, scope }
}

function publicUrlOf(root: Section, env: Env, found: Findings): string | null {
  const url = root.text('publicUrl') ?? set(env['PUBLIC_URL'])
  if (url === undefined) return null
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) {
    if (url.startsWith('http:'))
      found.warn(
        root.at('publicUrl'),
        'is not https, and Telegram calls nothing else',
        'Write https://…, on port 443, 80, 88 or 8443',
      )
    return url.replace(/\/+$/, '')
  }
  found.error(
    root.at('publicUrl'),
    `is ${typeOf(url)}`,
    'Write the address that Telegram can reach: https://tg.example.org',
  )
  return null
}

/** `host:port`, `:port` or `port`. */
function addressOf(text: string | undefined, otherwise: Address, place: string, found: Findings): Address {
  if (text === undefined || text.trim() === '') return otherwise
  const match = /^(?:(.*):)?(\d{1,5})$/.exec(text.trim())
  const port = Number(match?.[2] ?? Number.NaN)
  if (match !== null && port <= 65_535)
    return {
      host:
        match[1] === undefined || match[1] === '' ? (match[1] === '' ? '0.0.0.0' : otherwise.host) : match[1],
      port,
    }
  found.error(place, `is ${typeOf(text)}`, 'Write host:port, such as 127.0.0.1:8443')
  return otherwise
}

/** Telegram keeps an update for 24 h, and may send it again until then. */
function dedupeOf(root: Section, found: Findings): number {
  const ms = root.duration('dedupe', 7 * DAY_MS)
  if (ms < DAY_MS)
    found.error(
      root.at('dedupe'),
      'is shorter than the 24 hours in which Telegram may repeat an update',
      "Write '24h' or more",
    )
  return ms
}

function queueOf(env: Env, found: Findings): Pick<GatewayConfig, 'retention' | 'leaseMs'> {
  const of = (name: string, otherwise: number): number => durationAt(set(env[name]), otherwise, name, found)
  const dead = set(env['QUEUE_DEAD_RETENTION'])
  const stuck = set(env['QUEUE_STUCK_TIMEOUT'])
  const leaseMs = stuck === undefined ? null : durationAt(stuck, 10_000, 'QUEUE_STUCK_TIMEOUT', found)
  if (leaseMs !== null && leaseMs < 6_000)
    found.error(
      'QUEUE_STUCK_TIMEOUT',
      'is shorter than two signs of life of a process',
      "Write '10s' or more, or leave it out",
    )
  if (leaseMs !== null && leaseMs > MINUTE_MS)
    found.warn(
      'QUEUE_STUCK_TIMEOUT',
      'makes the jobs of a process that died wait longer than a minute',
      'Leave it out: long jobs are safe without it, and those of a dead process go on within 15 s',
    )
  const everyMs = of('QUEUE_JANITOR_INTERVAL', HOUR_MS)
  if (everyMs < 1_000) found.error('QUEUE_JANITOR_INTERVAL', 'is shorter than a second', "Write '1h'")
  return {
    retention: {
      doneMs: of('QUEUE_DONE_RETENTION', 7 * DAY_MS),
      deadMs: dead === undefined || dead === 'forever' ? null : of('QUEUE_DEAD_RETENTION', 0),
      everyMs,
    },
    leaseMs,
  }
}

function listOf(text: string | undefined): number[] | undefined {
  return set(text)
    ?.split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(Number)
}

/** A blank variable is unset. */
function set(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}
