/** Reads one bot: its section of the YAML, and its secrets from the environment. */
import { type BotConfig, HANDLERS } from './config.ts'
import { durationAt, type Problems, collectProblems, thereAre, typeOf } from './problems.ts'
import { commandOf, httpOf, jobOf } from './read-targets.ts'
import type { Section, SettingValue } from './section.ts'
import { botVariable, type Env, secretOf } from './secrets.ts'

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
/** Settings that must come from the environment. */
const SECRETS = ['token', 'secret']
const LONGEST_SLUG = 40
/** The suffix of the kinds of reply jobs; see sendKind. */
const REPLIES = 'send'
const TOKEN = /^(\d{1,16}):[A-Za-z0-9_-]{10,}$/
const SECRET = /^[A-Za-z0-9_-]{1,256}$/
const BACKOFF_MS = [30_000, 120_000, 600_000, 3_600_000]
const DEAD = 'Sorry, something went wrong. Please send your message again, or ask for help.'

export interface BotSources {
  /** The names of handlers that are passed in code. */
  readonly own: readonly string[]
  readonly hasDatabase: boolean
}

export function readBot(name: string, section: Section, { own, hasDatabase }: BotSources): BotConfig {
  const { found, env } = section
  const slug = slugFor(name)
  const at = section.at()
  if (!isSlug(name))
    at.error(
      'must be a slug',
      `Use a-z, 0-9 and single dashes between them, at most ${LONGEST_SLUG} characters, such as ${slug}`,
    )
  refuseSecrets(section, slug)
  const [handlerAt, asyncAt] = [section.at('handler'), section.at('async')]
  const [repliesAt, orderedAt] = [section.at('replies'), section.at('ordered')]
  const handler = section.text('handler')
  const known = [...HANDLERS, ...own]
  if (handler === undefined) {
    if (section.isRead) at.error('has no handler', `Add handler: with one of ${known.join(', ')}`)
  } else if (!known.includes(handler))
    handlerAt.error(`must be a known handler (got ${typeOf(handler)})`, thereAre(handler, known))
  else if (handler === REPLIES)
    handlerAt.error('is reserved for reply jobs', 'Use another name for your handler')
  const isAsync = section.flag('async', false)
  if (isAsync && !hasDatabase)
    asyncAt.error('needs a database, but store is none', 'Remove store: none, or write async: false')
  if (handler === 'auth' && isAsync)
    asyncAt.error(
      'must not be true for the handler auth: it would store login codes in the database',
      'Remove it',
    )
  if (handler === 'job' && !hasDatabase)
    handlerAt.error('needs a database for its jobs, but store is none', 'Remove store: none')
  if (section.get('replies') === 'at-most-once' && !hasDatabase)
    repliesAt.error('needs a database to record sent replies, but store is none', 'Remove store: none')
  if (section.get('ordered') === true && !isAsync)
    orderedAt.warn(
      'only applies to async bots: Telegram itself sends one update of a chat at a time',
      'Remove it',
    )
  if (handler === 'command' && !isAsync) at.error('must be async to run a command', 'Write async: true')
  if (handler === 'auth' && section.get('requireAuth') === true)
    section.at('requireAuth').error('must not be true for the bot that opens sessions', 'Remove it')
  const isLogin = section.flag('requireAuth', handler !== 'auth')
  // An invalid slug has no well-defined variable names, so its secrets are not checked.
  const ofSecrets = isSlug(name) ? found : collectProblems()
  const token = tokenOf(slug, env, ofSecrets)
  const bot = {
    slug: name,
    ...token,
    secrets: secretsOf(slug, env, ofSecrets),
    handler: handler ?? '',
    async: isAsync,
    requireAuth: isLogin && handler !== 'auth',
    allowedUsers: usersOf({ value: section.get('allowedUsers'), at: section.at('allowedUsers') }),
    ordered: section.flag('ordered', isAsync),
    concurrency: section.whole('concurrency', 10, { least: 1, most: 10_000 }),
    retry: retryOf(section.section('retry')),
    replies: section.oneOf('replies', 'at-least-once', ['at-least-once', 'at-most-once']),
    words: {
      dead: section.get('deadNotice') === false ? null : (section.text('deadNotice') ?? DEAD),
      prompt: section.text('prompt') ?? '',
    },
    http: handler === 'http' ? httpOf(slug, section.section('http'), ofSecrets) : refused(section, 'http'),
    command: handler === 'command' ? commandOf(section.section('command')) : refused(section, 'command'),
    job: handler === 'job' ? jobOf(section.section('job')) : refused(section, 'job'),
  }
  section.refuseOthers(SECRETS)
  return bot
}

/** Suggests a valid slug that is close to the name. */
export function slugFor(name: string): string {
  return (
    name
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, LONGEST_SLUG)
      .replaceAll(/^-+|-+$/g, '') || 'bot'
  )
}

export function isSlug(name: string): boolean {
  return SLUG.test(name) && name.length <= LONGEST_SLUG
}

function refused(section: Section, name: string): null {
  if (section.get(name) !== undefined)
    section.at(name).error(`only applies to the handler ${name}`, `Write handler: ${name}, or remove it`)
  return null
}

function refuseSecrets(section: Section, slug: string): void {
  for (const name of SECRETS) {
    if (section.get(name) === undefined) continue
    const variable = botVariable(slug, name.toUpperCase())
    const fix = `Set ${variable} or ${variable}_FILE instead, and revoke this one`
    section.at(name).error('must not be in this file', fix)
  }
}

/** An empty token and the id 0 if there is no valid token. */
function tokenOf(slug: string, env: Env, found: Problems): Pick<BotConfig, 'token' | 'id'> {
  const variable = botVariable(slug, 'TOKEN')
  const token = secretOf(env, variable, found)
  const id = TOKEN.exec(token ?? '')?.[1]
  if (token !== undefined && id !== undefined) return { token, id: Number(id) }
  const at = found.at(variable)
  if (token === undefined)
    at.error('is not set', `Set it to the token from @BotFather, or ${variable}_FILE to a file with it`)
  else
    at.error(
      'must be a bot token',
      'Copy the whole token from @BotFather: digits, a colon, and at least 10 characters',
    )
  return { token: '', id: 0 }
}

function secretsOf(slug: string, env: Env, found: Problems): string[] {
  return ['SECRET', 'SECRET_OLD'].flatMap((what) => {
    const variable = botVariable(slug, what)
    const secret = secretOf(env, variable, found)
    const at = found.at(variable)
    if (secret === undefined) {
      if (what === 'SECRET')
        at.error('is not set', 'Set it to 32 or more random characters from A-Z a-z 0-9 _ -')
      return []
    }
    if (!SECRET.test(secret)) {
      at.error('must be a secret that Telegram accepts', 'Use 1 to 256 characters from A-Z a-z 0-9 _ -')
      return []
    }
    if (secret.length < 16) at.warn('is short enough to be guessed', 'Use 32 or more random characters')
    return [secret]
  })
}

export function usersOf({ value, at }: SettingValue): Set<number> | null {
  if (value === undefined) return null
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const ids = list.filter((id): id is number => Number.isSafeInteger(id) && (id as number) > 0)
  if (list.length === 0) at.error('must not be empty: no user could use the bot', 'List user ids, or omit it')
  if (ids.length < list.length || !Array.isArray(value))
    at.error(
      'must be a list of user ids',
      at.place === 'ALLOWED_USERS'
        ? 'Write numbers with commas: 123456789,987654321'
        : 'Write a list of numbers: [123456789]',
    )
  return new Set(ids)
}

function retryOf(section: Section): BotConfig['retry'] {
  const at = section.at('backoff')
  const backoffMs = section.list('backoff')?.map((wait) => durationAt(wait, 0, at)) ?? BACKOFF_MS
  if (backoffMs.length === 0) at.error('must not be empty', 'Write at least one delay, such as [30s]')
  const retry = {
    attempts: section.whole('attempts', 5, { least: 1, most: 1_000 }),
    backoffMs,
    jitter: section.whole('jitterPercent', 20, { least: 0, most: 100 }) / 100,
  }
  section.refuseOthers()
  return retry
}
