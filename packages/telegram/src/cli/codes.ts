/** The commands for one-time login codes, which an operator creates and a user sends to the login bot. */
import { existsSync } from 'node:fs'
import { type ErrorCode, JobmillError } from 'jobmill'
import { durationMs } from 'jobmill/internal'
import { EXIT, type Given, nearest } from 'jobmill/cli'
import { openTables, placeOf } from 'jobmill-tables'
import type { AuthConfig, GatewayConfig } from '../config/config.ts'
import { lasting } from '../handlers/auth.ts'
import { type Codes, codes as codesOf, type NewCode } from '../sessions/codes.ts'
import { EVERY_BOT } from '../sessions/sessions.ts'
import { type Schema, STEPS } from '../sessions/steps.ts'
import { type Command, type Io, withConfig } from './command.ts'

const issueCode: Command = {
  words: 'codes new',
  says: 'create a one-time login code',
  options: {
    bot: { takes: 'SLUG', multiple: true, says: 'limit the code to this bot (default: every bot)' },
    user: { takes: 'ID', says: 'limit the code to this user' },
    ttl: { takes: 'TIME', says: 'how long the code is valid (default 1h)' },
  },
  run: withConfig(async ({ config }, given, io) => {
    const found = foundIn(config, io)
    if (found === null) return EXIT.usage
    // Check the options before opening the database.
    const asked = askedIn(given, config)
    // Shown before the database is closed, which may fail: the code cannot be shown again.
    await withCodes(found, async (codes) => io.out(await codes.issue(asked)))
    const { scopes, ttlMs } = asked
    io.err(
      `The code works once, within ${lasting(ttlMs)}, for ${scopes.includes(EVERY_BOT) ? 'every bot' : scopes.join(', ')}. It is not shown again.`,
    )
    return EXIT.done
  }),
}

const listCodes: Command = {
  words: 'codes list',
  says: 'list unexpired codes and who used them',
  run: withConfig(async ({ config }, _given, { out, ...io }) => {
    const found = foundIn(config, io)
    if (found === null) return EXIT.usage
    const place = placeOf(found.database)
    // Listing must not create a database.
    const isThere = place.type !== 'sqlite' || existsSync(place.file)
    const all = isThere ? await withCodes(found, (codes) => codes.list()) : []
    if (all.length === 0) out('no codes')
    for (const { scope, user_id: user, expires_at: until, used_by: by } of all) {
      const state = by === null ? 'unused' : `used by ${by}`
      out(
        `${state.padEnd(20)} ${scope === EVERY_BOT ? 'every bot' : scope}  until ${new Date(until).toISOString()}${user === null ? '' : `  only for user ${user}`}`,
      )
    }
    return EXIT.done
  }),
}

export const codes: readonly Command[] = [issueCode, listCodes]

interface Found {
  readonly auth: AuthConfig
  readonly database: string
}

/** Returns null after reporting that the config allows no codes. */
function foundIn({ auth, database }: GatewayConfig, { err }: Pick<Io, 'err'>): Found | null {
  if (auth !== null && database !== null) return { auth, database }
  err(
    auth === null
      ? 'error   AUTH_SECRET: is not set, but codes are hashed with it\n        Set it to 16 or more random characters'
      : 'error   store: is none, so codes cannot be stored\n        Remove store: none from the config',
  )
  return null
}

async function withCodes<T>({ auth, database }: Found, act: (codes: Codes) => Promise<T>): Promise<T> {
  const { tables } = await openTables<Schema>(database, { app: 'telegram', steps: STEPS })
  try {
    await tables.open()
    return await act(codesOf(tables, auth))
  } finally {
    await tables.close()
  }
}

function askedIn(given: Given, { bots }: GatewayConfig): NewCode {
  const slugs = bots.map(({ slug }) => slug)
  const named = given.texts('bot')
  for (const slug of named) {
    if (slug === EVERY_BOT || slugs.includes(slug)) continue
    const near = nearest(slug, slugs)
    const fix = near === undefined ? `Use one of ${slugs.join(', ')}` : `Did you mean "${near}"?`
    throw invalid('OPTION_INVALID', '--bot', slug, 'is not defined in the config', fix)
  }
  const user = given.text('user')
  const userId = user === undefined ? undefined : Number(user)
  if (user !== undefined && !(Number.isSafeInteger(userId) && Number(userId) > 0)) {
    const fix = 'Pass the number that /whoami shows'
    throw invalid('OPTION_INVALID', '--user', user, 'must be a Telegram user id', fix)
  }
  const ttl = given.text('ttl') ?? '1h'
  // Elsewhere a number without a unit means milliseconds, which makes no sense for a code.
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(ttl)) {
    const fix = 'Pass a duration such as 30m, 1h or 7d'
    throw invalid('DURATION_INVALID', '--ttl', ttl, 'must be a number with a unit', fix)
  }
  const ttlMs = durationMs(ttl, '--ttl')
  if (ttlMs === 0)
    throw new JobmillError('DURATION_INVALID', 'must be greater than 0', {
      field: '--ttl',
      fix: 'Pass a duration such as 1h or 7d',
    })
  return { scopes: named.length === 0 ? [EVERY_BOT] : named, ttlMs, ...(userId !== undefined && { userId }) }
}

function invalid(code: ErrorCode, field: string, text: string, what: string, fix: string): JobmillError {
  return new JobmillError(code, what, { field, value: JSON.stringify(text.slice(0, 40)), fix })
}
