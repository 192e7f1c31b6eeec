/** The commands for one-time login codes, which an operator creates and a user sends to the login bot. */
import { existsSync } from 'node:fs'
import { JobmillError } from 'jobmill'
import { durationMs } from 'jobmill/internal'
import { EXIT, type Given, nearest } from 'jobmill/cli'
import { openTables, placeOf, type Tables } from 'jobmill-tables'
import type { AuthConfig, GatewayConfig } from '../config/config.ts'
import { lasting } from '../handlers/auth.ts'
import { codes as codesOf } from '../sessions/codes.ts'
import { EVERY_BOT } from '../sessions/sessions.ts'
import { type Schema, STEPS } from '../sessions/steps.ts'
import type { Command, Io } from './command.ts'
import { loadConfig } from './config.ts'

const issueCode: Command = {
  words: 'codes new',
  says: 'create a one-time login code',
  options: {
    bot: { takes: 'SLUG', multiple: true, says: 'limit the code to this bot (default: every bot)' },
    user: { takes: 'ID', says: 'limit the code to this user' },
    ttl: { takes: 'TIME', says: 'how long the code is valid (default 1h)' },
  },
  async run(given, io) {
    const found = authOf(given, io)
    if (found === null) return EXIT.usage
    // Check the options before opening the database.
    const asked = askedIn(given, found.config)
    return withTables(found.database, (tables) => issue(tables, found.auth, asked, io))
  },
}

const listCodes: Command = {
  words: 'codes list',
  says: 'list unexpired codes and who used them',
  async run(given, io) {
    const found = authOf(given, io)
    if (found === null) return EXIT.usage
    const place = placeOf(found.database)
    // Listing must not create a database.
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
  const config = loadConfig(given, io)?.config
  if (config === undefined) return null
  const { auth, database } = config
  if (auth !== null && database !== null) return { config, auth, database }
  io.err(
    auth === null
      ? 'error   AUTH_SECRET: is not set, but codes are hashed with it\n        Set it to 16 or more random characters'
      : 'error   store: is none, so codes cannot be stored\n        Remove store: none from the config',
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
    throw new JobmillError('OPTION_INVALID', 'must be a bot of the config', {
      field: '--bot',
      value: JSON.stringify(slug.slice(0, 40)),
      fix: near === undefined ? `Use one of ${slugs.join(', ')}` : `Did you mean "${near}"?`,
    })
  }
  const user = given.text('user')
  const userId = user === undefined ? undefined : Number(user)
  if (userId !== undefined && !(Number.isSafeInteger(userId) && userId > 0))
    throw new JobmillError('OPTION_INVALID', 'must be a Telegram user id', {
      field: '--user',
      value: JSON.stringify((user ?? '').slice(0, 40)),
      fix: 'Pass the number that /whoami shows',
    })
  const ttl = given.text('ttl') ?? '1h'
  // Elsewhere a number without a unit means milliseconds, which makes no sense for a code.
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(ttl))
    throw new JobmillError('DURATION_INVALID', 'must be a number with a unit', {
      field: '--ttl',
      value: JSON.stringify(ttl.slice(0, 40)),
      fix: 'Pass 30m, 1h or 7d',
    })
  const ttlMs = durationMs(ttl, '--ttl')
  if (ttlMs === 0)
    throw new JobmillError('DURATION_INVALID', 'must be greater than 0', {
      field: '--ttl',
      fix: 'Pass 1h or 7d',
    })
  return { scopes: named.length === 0 ? [EVERY_BOT] : named, ttlMs, ...(userId !== undefined && { userId }) }
}

async function issue(tables: Tables<Schema>, auth: AuthConfig, asked: Asked, io: Io): Promise<number> {
  const { scopes, ttlMs } = asked
  io.out(await codesOf(tables, auth).issue(asked))
  io.err(
    `The code works once, within ${lasting(ttlMs)}, for ${scopes.includes(EVERY_BOT) ? 'every bot' : scopes.join(', ')}. It is not shown again.`,
  )
  return EXIT.done
}

async function list(tables: Tables<Schema>, auth: AuthConfig, { out }: Io): Promise<number> {
  const all = await codesOf(tables, auth).list()
  if (all.length === 0) out('no codes')
  for (const { scope, user_id: user, expires_at: until, used_by: by } of all) {
    const state = by === null ? 'unused' : `used by ${by}`
    out(
      `${state.padEnd(20)} ${scope === EVERY_BOT ? 'every bot' : scope}  until ${new Date(until).toISOString()}${user === null ? '' : `  only for user ${user}`}`,
    )
  }
  return EXIT.done
}
