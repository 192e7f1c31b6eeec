/** Codes that open a session once: made here, told to a person, typed to the bot. */
import { durationMs, JobmillError } from 'jobmill'
import { openTables, type Tables } from 'jobmill-tables'
import type { AuthConfig, GatewayConfig } from '../config/config.ts'
import { lasting } from '../handlers/auth.ts'
import { codes as codesOf } from '../sessions/codes.ts'
import { EVERY_BOT } from '../sessions/sessions.ts'
import { type Schema, STEPS } from '../sessions/steps.ts'
import { configFor, flags } from './config.ts'

export async function codes(args: readonly string[]): Promise<number> {
  const { values, positionals } = flags(args, {
    bot: { type: 'string', multiple: true },
    user: { type: 'string' },
    ttl: { type: 'string', default: '1h' },
  })
  const [word = 'list'] = positionals
  if (word !== 'new' && word !== 'list') {
    console.error(`error   codes ${word}: there are codes new and codes list`)
    return 2
  }
  const config = configFor(values.config)
  if (config === null) return 2
  const { auth, database } = config
  if (auth === null || database === null) {
    console.error(
      'error   codes need AUTH_SECRET and a database: with store: none they would not outlive this command',
    )
    return 2
  }
  const { tables } = await openTables<Schema>(database, { app: 'telegram', steps: STEPS })
  try {
    await tables.open()
    return word === 'list' ? await list(tables, auth) : await issue(tables, auth, config, values)
  } finally {
    await tables.close()
  }
}

interface Asked {
  readonly bot?: string[] | undefined
  readonly user?: string | undefined
  readonly ttl?: string | undefined
}

async function issue(
  tables: Tables<Schema>,
  auth: AuthConfig,
  config: GatewayConfig,
  { bot, user, ttl }: Asked,
): Promise<number> {
  const scopes = bot ?? [EVERY_BOT]
  for (const slug of scopes)
    if (slug !== EVERY_BOT && !config.bots.some((one) => one.slug === slug))
      throw new JobmillError('OPTION_INVALID', 'is no bot of the config', {
        field: '--bot',
        value: slug,
        fix: `There are ${config.bots.map((one) => one.slug).join(', ')}`,
      })
  const userId = user === undefined ? undefined : Number(user)
  if (userId !== undefined && !(Number.isSafeInteger(userId) && userId > 0))
    throw new JobmillError('OPTION_INVALID', 'is no user id', {
      field: '--user',
      value: user ?? '',
      fix: 'Give the number that /whoami tells',
    })
  const ttlMs = durationMs(ttl, '--ttl')
  const code = await codesOf(tables, auth).issue({
    scopes,
    ttlMs,
    ...(userId === undefined ? {} : { userId }),
  })
  console.log(code)
  console.error(
    `It opens ${scopes.includes(EVERY_BOT) ? 'every bot' : scopes.join(', ')}, once, within ${lasting(ttlMs)}. It is not shown again.`,
  )
  return 0
}

async function list(tables: Tables<Schema>, auth: AuthConfig): Promise<number> {
  const all = await codesOf(tables, auth).list()
  if (all.length === 0) console.log('no codes')
  for (const { scope, user_id: user, expires_at: until, used_by: by } of all) {
    const state = by === null ? 'unused' : `used by ${by}`
    console.log(
      `${state.padEnd(20)} ${scope === EVERY_BOT ? 'every bot' : scope}  until ${new Date(until).toISOString()}${user === null ? '' : `  for ${user} alone`}`,
    )
  }
  return 0
}
