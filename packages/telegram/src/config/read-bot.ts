/** Reads one bot: its section of the YAML, and its secrets from the environment. */
import { type BotConfig, HANDLERS } from './config.ts'
import { durationAt, type Problems, collectProblems, thereAre, typeOf } from './problems.ts'
import type { SettingValue } from './read-value.ts'
import { commandOf, httpOf, jobOf } from './read-targets.ts'
import type { Section } from './section.ts'
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
  readonly env: Env
  readonly found: Problems
  /** The names of handlers that are passed in code. */
  readonly own: readonly string[]
  readonly hasDatabase: boolean
}

export function readBot(name: string, section: Section, sources: BotSources): BotConfig {
  const { found, own } = sources
  refuseSlug(name, section, found)
  refuseSecrets(section, found, slugFor(name))
  const handler = section.text('handler')
  const known = [...HANDLERS, ...own]
  if (handler === undefined) {
    if (section.isRead)
      found.error(section.at(), 'has no handler', `Add handler: with one of ${known.join(', ')}`)
  } else if (!known.includes(handler))
    found.error(
      section.at('handler'),
      `must be a known handler (got ${typeOf(handler)})`,
      thereAre(handler, known),
    )
  else if (handler === REPLIES)
    found.error(section.at('handler'), 'is reserved for reply jobs', 'Use another name for your handler')
  const isAsync = section.flag('async', false)
  if (isAsync && !sources.hasDatabase)
    found.error(
      section.at('async'),
      'needs a database, but store is none',
      'Remove store: none, or write async: false',
    )
  if (handler === 'auth' && isAsync)
    found.error(
      section.at('async'),
      'must not be true for the handler auth: it would store login codes in the database',
      'Remove it',
    )
  if (handler === 'job' && !sources.hasDatabase)
    found.error(
      section.at('handler'),
      'needs a database for its jobs, but store is none',
      'Remove store: none',
    )
  if (section.get('replies') === 'at-most-once' && !sources.hasDatabase)
    found.error(
      section.at('replies'),
      'needs a database to record sent replies, but store is none',
      'Remove store: none',
    )
  if (section.get('ordered') === true && !isAsync)
    found.warn(
      section.at('ordered'),
      'only applies to async bots: Telegram itself sends one update of a chat at a time',
      'Remove it',
    )
  if (handler === 'command' && !isAsync)
    found.error(section.at(), 'must be async to run a command', 'Write async: true')
  const requireAuth = authOf(section, handler, found)
  // An invalid slug has no well-defined variable names, so its secrets are not checked.
  const asked = isSlug(name) ? sources : { ...sources, found: collectProblems() }
  const token = tokenOf(slugFor(name), asked)
  const secrets = secretsOf(slugFor(name), asked)
  const bot = {
    slug: name,
    token: token?.text ?? '',
    id: token?.id ?? 0,
    secrets,
    handler: handler ?? '',
    async: isAsync,
    requireAuth,
    allowedUsers: usersOf({ value: section.get('allowedUsers'), place: section.at('allowedUsers') }, found),
    ordered: section.flag('ordered', isAsync),
    concurrency: section.whole('concurrency', 10, { least: 1, most: 10_000 }),
    retry: retryOf(section.section('retry'), found),
    replies: section.oneOf('replies', 'at-least-once', ['at-least-once', 'at-most-once']),
    words: {
      dead: section.get('deadNotice') === false ? null : (section.text('deadNotice') ?? DEAD),
      prompt: section.text('prompt') ?? '',
    },
    http:
      handler === 'http'
        ? httpOf(slugFor(name), section.section('http'), sources, asked.found)
        : refused(section, 'http', found),
    command:
      handler === 'command'
        ? commandOf(section.section('command'), found)
        : refused(section, 'command', found),
    job: handler === 'job' ? jobOf(section.section('job'), found) : refused(section, 'job', found),
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

function refuseSlug(name: string, section: Section, found: Problems): void {
  if (isSlug(name)) return
  found.error(
    section.at(),
    'must be a slug',
    `Use a-z, 0-9 and single dashes between them, at most ${LONGEST_SLUG} characters, such as ${slugFor(name)}`,
  )
}

function refused(section: Section, name: string, found: Problems): null {
  if (section.get(name) !== undefined)
    found.error(
      section.at(name),
      `only applies to the handler ${name}`,
      `Write handler: ${name}, or remove it`,
    )
  return null
}

function refuseSecrets(section: Section, found: Problems, slug: string): void {
  for (const name of SECRETS) {
    if (section.get(name) === undefined) continue
    const variable = botVariable(slug, name.toUpperCase())
    found.error(
      section.at(name),
      'must not be in this file',
      `Set ${variable} or ${variable}_FILE instead, and revoke this one`,
    )
  }
}

function authOf(section: Section, handler: string | undefined, found: Problems): boolean {
  const given = section.get('requireAuth')
  if (handler === 'auth' && given === true)
    found.error(section.at('requireAuth'), 'must not be true for the bot that opens sessions', 'Remove it')
  return section.flag('requireAuth', handler !== 'auth') && handler !== 'auth'
}

function tokenOf(
  slug: string,
  { env, found }: BotSources,
): { readonly text: string; readonly id: number } | null {
  const variable = botVariable(slug, 'TOKEN')
  const text = secretOf(env, variable, found)
  const id = TOKEN.exec(text ?? '')?.[1]
  if (text === undefined)
    found.error(
      variable,
      'is not set',
      `Set it to the token from @BotFather, or ${variable}_FILE to a file with it`,
    )
  else if (id === undefined)
    found.error(
      variable,
      'must be a bot token',
      'Copy the whole token from @BotFather: digits, a colon, and at least 10 characters',
    )
  return text === undefined || id === undefined ? null : { text, id: Number(id) }
}

function secretsOf(slug: string, { env, found }: BotSources): string[] {
  const names = [botVariable(slug, 'SECRET'), botVariable(slug, 'SECRET_OLD')]
  const secrets = names.map((name) => secretOf(env, name, found))
  if (secrets[0] === undefined)
    found.error(names[0] ?? '', 'is not set', 'Set it to 32 or more random characters from A-Z a-z 0-9 _ -')
  return secrets.flatMap((secret, at) => {
    if (secret === undefined) return []
    if (SECRET.test(secret)) {
      if (secret.length < 16)
        found.warn(names[at] ?? '', 'is short enough to be guessed', 'Use 32 or more random characters')
      return [secret]
    }
    found.error(
      names[at] ?? '',
      'must be a secret that Telegram accepts',
      'Use 1 to 256 characters from A-Z a-z 0-9 _ -',
    )
    return []
  })
}

export function usersOf({ value, place }: SettingValue, found: Problems): Set<number> | null {
  if (value === undefined) return null
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  const ids = list.filter((id): id is number => Number.isSafeInteger(id) && (id as number) > 0)
  if (list.length === 0)
    found.error(place, 'must not be empty: no user could use the bot', 'List user ids, or omit it')
  if (ids.length < list.length || !Array.isArray(value))
    found.error(
      place,
      'must be a list of user ids',
      place === 'ALLOWED_USERS'
        ? 'Write numbers with commas: 123456789,987654321'
        : 'Write a list of numbers: [123456789]',
    )
  return new Set(ids)
}

function retryOf(section: Section, found: Problems): BotConfig['retry'] {
  const list = section.list('backoff')
  const at = section.at('backoff')
  const backoffMs = list === undefined ? BACKOFF_MS : list.map((wait) => durationAt(wait, 0, at, found))
  if (backoffMs.length === 0) found.error(at, 'must not be empty', 'Write at least one wait, such as [30s]')
  const percent = section.whole('jitterPercent', 20, { least: 0, most: 100 })
  const retry = {
    attempts: section.whole('attempts', 5, { least: 1, most: 1_000 }),
    backoffMs,
    jitter: percent / 100,
  }
  section.refuseOthers()
  return retry
}
