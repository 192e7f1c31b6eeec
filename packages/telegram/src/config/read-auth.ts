/** Reads the session settings, and checks that users can open sessions at all. */
import type { AuthConfig, BotConfig } from './config.ts'
import { durationAt, thereAre, typeOf } from './problems.ts'
import type { Section } from './section.ts'
import { secretOf } from './secrets.ts'

const DAY_MS = 24 * 3_600_000

export function authOf(section: Section, bots: readonly BotConfig[]): AuthConfig | null {
  const { found } = section
  const ttl = section.setting('sessionTtl', 'AUTH_SESSION_TTL')
  const ttlMs = durationAt(ttl.value, DAY_MS, ttl.at)
  if (ttlMs === 0) ttl.at.error('must be greater than 0', "Write a duration such as '24h'")
  const given = section.list('scope') ?? ['*']
  const scope = given.filter((one): one is string => typeof one === 'string')
  const known = ['*', ...bots.map(({ slug }) => slug)]
  const scopeAt = section.at('scope')
  if (scope.length === 0 || scope.length < given.length)
    scopeAt.error('must be a list of bot slugs', "Write ['*'] for every bot")
  for (const slug of scope)
    if (!known.includes(slug))
      scopeAt.error(`names an unknown bot (got ${typeOf(slug)})`, thereAre(slug, known))
  section.refuseOthers()
  const secret = secretOf(section.env, 'AUTH_SECRET', found)
  const [secretAt, botsAt] = [found.at('AUTH_SECRET'), found.at('bots')]
  const hasLogin = bots.some(({ handler }) => handler === 'auth')
  const needs = bots.filter(({ handler, requireAuth }) => handler === 'auth' || requireAuth)
  if (needs.length > 0 && secret === undefined)
    secretAt.error(
      `is not set, but these bots need it for logins: ${needs.map(({ slug }) => slug).join(', ')}`,
      hasLogin
        ? 'Set it to 16 or more random characters'
        : 'Set it to 16 or more random characters, or write requireAuth: false for public bots',
    )
  if (secret !== undefined && secret.length < 8)
    secretAt.error('is too short (min 8 characters)', 'Use 16 or more random characters')
  else if (secret !== undefined && secret.length < 16)
    secretAt.warn('is short', 'Use 16 or more random characters')
  if (bots.some(({ requireAuth }) => requireAuth) && !hasLogin)
    botsAt.warn(
      'include bots that require a login, but none with the handler auth, which opens sessions',
      'Add a bot with handler: auth, or write requireAuth: false',
    )
  return secret === undefined ? null : { secret, ttlMs, scope }
}
