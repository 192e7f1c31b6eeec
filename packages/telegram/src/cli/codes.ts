/** Codes that open a session once: made here, told to a person, typed to the bot. */
import { existsSync } from 'node:fs'
import { durationMs, JobmillError } from 'jobmill'
import { EXIT, type Given, nearest } from 'jobmill/cli'
import { openTables, placeOf, type Tables } from 'jobmill-tables'
import type { AuthConfig, GatewayConfig } from '../config/config.ts'
import { lasting } from '../handlers/auth.ts'
import { codes as codesOf } from '../sessions/codes.ts'
import { EVERY_BOT } from '../sessions/sessions.ts'
import { type Schema, STEPS } from '../sessions/steps.ts'
import type { Command, Io } from './command.ts'
import { configured } from './config.ts'

const issueCode: Command = {
  words: 'codes new',
  says: 'make a code that opens a session once',
  options: {
    bot: { type: 'string', takes: 'SLUG', multiple: true, says: 'for this bot alone (default: every bot)' },
    user: { type: 'string', takes: 'ID', says: 'for this user alone' },
    ttl: { type: 'string', takes: 'TIME', says: 'how long it works (default 1h)' },
  },
  async run(given, io) {
    const found = authOf(given, io)
    if (found === null) return EXIT.usage
    // Before the database is touched.
    const asked = askedIn(given, found.config)
    return withTables(found.database, (tables) => issue(tables, found.auth, asked, io))
  },
}

const listCodes: Command = {
  words: 'codes list',
  says: 'codes that have not expired, and who used them',
  async run(given, io) {
    const found = authOf(given, io)
    if (found === null) return EXIT.usage
    const place = placeOf(found.database)
    // Who only looks makes no database.
    if (place.type === 'sqlite' && !existsSync(place.file)) {
      io.out('no codes')
      return EXIT.done
    }
    return withTables(found.database, (tables) => list(tables, found.auth, io))
  },
}

export const codes: readonly Command[] = [issueCode, listCodes]

interface Found {
  readonly config: GatewayConfig
  readonly auth: AuthConfig
  readonly database: string
}

function authOf(given: Given, io: Io): Found | null {
  const config = configured(given, io)?.config
  if (config === undefined) return null
  const { auth, database } = config
  if (auth !== null && database !== null) return { config, auth, database }
  io.err(
    auth === null
      ? 'error   AUTH_SECRET: is not set, and codes are kept by it\n        Set it to 16 or more random characters'
      : 'error   store: is none, and a code would not outlive this command\n        Leave store out',
  )
  return null
}

async function withTables(
  database: string,
  act: (tables: Tables<Schema>) => Promise<number>,
): Promise<number> {
  const { tables } = await openTables<Schema>(database, { app: 'telegram', steps: STEPS })
  try {
    await tables.open()
    return await act(tables)
  } finally {
    await tables.close()
  }
}

interface Asked {
  readonly scopes: readonly string[]
  readonly userId?: number
  readonly ttlMs: number
}

function askedIn(given: Given, { bots }: GatewayConfig): Asked {
  const slugs = bots.map(({ slug }) => slug)
  const named = given.texts('bot')
  for (const slug of named) {
    if (slug === EVERY_BOT || slugs.includes(slug)) continue
    const near = nearest(slug, slugs)
    throw new JobmillError('OPTION_INVALID', 'is no bot of the config', {
      field: '--bot',
      value: JSON.stringify(slug.slice(0, 40)),
      fix: near === undefined ? `There are ${slugs.join(', ')}` : `Did you mean "${near}"?`,
    })
  }
  const user = given.text('user')
  const userId = user === undefined ? undefined : Number(user)
  if (userId !== undefined && !(Number.isSafeInteger(userId) && userId > 0))
    throw new JobmillError('OPTION_INVALID', 'is no user id', {
      field: '--user',
      value: JSON.stringify((user ?? '').slice(0, 40)),
      fix: 'Give the number that /whoami tells',
    })
  const ttl = given.text('ttl') ?? '1h'
  // Milliseconds, which digits alone are elsewhere, are nothing that a code could last.
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(ttl))
    throw new JobmillError('DURATION_INVALID', 'is no number with its unit', {
      field: '--ttl',
      value: JSON.stringify(ttl.slice(0, 40)),
      fix: 'Give 30m, 1h or 7d',
    })
  const ttlMs = durationMs(ttl, '--ttl')
  if (ttlMs === 0)
    throw new JobmillError('DURATION_INVALID', 'is over at once', { field: '--ttl', fix: 'Give 1h or 7d' })
  return { scopes: named.length === 0 ? [EVERY_BOT] : named, ttlMs, ...(userId !== undefined && { userId }) }
}

async function issue(tables: Tables<Schema>, auth: AuthConfig, asked: Asked, io: Io): Promise<number> {
  const { scopes, ttlMs } = asked
  io.out(await codesOf(tables, auth).issue(asked))
  io.err(
    `It opens ${scopes.includes(EVERY_BOT) ? 'every bot' : scopes.join(', ')}, once, within ${lasting(ttlMs)}. It is not shown again.`,
  )
  return EXIT.done
}

async function list(tables: Tables<Schema>, auth: AuthConfig, { out }: Io): Promise<number> {
  const all = await codesOf(tables, auth).list()
  if (all.length === 0) out('no codes')
  for (const { scope, user_id: user, expires_at: until, used_by: by } of all) {
    const state = by === null ? 'unused' : `used by ${by}`
    out(
      `${state.padEnd(20)} ${scope === EVERY_BOT ? 'every bot' : scope}  until ${new Date(until).toISOString()}${user === null ? '' : `  for ${user} alone`}`,
    )
  }
  return EXIT.done
}
