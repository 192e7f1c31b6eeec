/** Reads the session settings, and checks that users can open sessions at all. */
import type { AuthConfig, BotConfig } from './config.ts'
import { durationAt, type Problems, thereAre, typeOf } from './problems.ts'
import { readValue } from './read-value.ts'
import type { Section } from './section.ts'
import { type Env, secretOf } from './secrets.ts'

const DAY_MS = 24 * 3_600_000

export function authOf(
  section: Section,
  bots: readonly BotConfig[],
  env: Env,
  found: Problems,
): AuthConfig | null {
  const ttl = readValue(section, 'sessionTtl', env, 'AUTH_SESSION_TTL')
  const ttlMs = durationAt(ttl.value, DAY_MS, ttl.place, found)
  if (ttlMs === 0) found.error(ttl.place, 'must be greater than 0', "Write a duration such as '24h'")
  const given = section.list('scope') ?? ['*']
  const scope = given.filter((one): one is string => typeof one === 'string')
  if (scope.length === 0 || scope.length < given.length)
    found.error(section.at('scope'), 'must be a list of bot slugs', "Write ['*'] for every bot")
  for (const slug of scope)
    if (slug !== '*' && !bots.some((bot) => bot.slug === slug))
      found.error(
        section.at('scope'),
        `names an unknown bot (got ${typeOf(slug)})`,
        thereAre(slug, ['*', ...bots.map((bot) => bot.slug)]),
      )
  section.refuseOthers()
  const secret = secretOf(env, 'AUTH_SECRET', found)
  const needs = bots.filter(({ handler, requireAuth }) => handler === 'auth' || requireAuth)
  if (needs.length > 0 && secret === undefined) {
    const slugs = needs.map(({ slug }) => slug).join(', ')
    found.error(
      'AUTH_SECRET',
      `is not set, but these bots need it for logins: ${slugs}`,
      needs.some(({ handler }) => handler === 'auth')
        ? 'Set it to 16 or more random characters'
        : 'Set it to 16 or more random characters, or write requireAuth: false for public bots',
    )
  }
  if (secret !== undefined && secret.length < 8)
    found.error('AUTH_SECRET', 'is too short (min 8 characters)', 'Use 16 or more random characters')
  else if (secret !== undefined && secret.length < 16)
    found.warn('AUTH_SECRET', 'is short', 'Use 16 or more random characters')
  if (bots.some(({ requireAuth }) => requireAuth) && !bots.some(({ handler }) => handler === 'auth'))
    found.warn(
      'bots',
      'some require a login, but no bot has the handler auth, which opens sessions',
      'Add a bot with handler: auth, or write requireAuth: false',
    )
  return secret === undefined ? null : { secret, ttlMs, scope }
}
