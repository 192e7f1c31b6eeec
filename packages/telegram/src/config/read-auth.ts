/** How sessions are opened, and whether anybody could. */
import type { AuthConfig, BotConfig } from './config.ts'
import { durationAt, type Problems, thereAre, typeOf } from './problems.ts'
import { givenIn } from './given.ts'
import type { Section } from './section.ts'
import { type Env, secretOf } from './secrets.ts'

const DAY_MS = 24 * 3_600_000

export function authOf(
  section: Section,
  bots: readonly BotConfig[],
  env: Env,
  found: Problems,
): AuthConfig | null {
  const ttl = givenIn(section, 'sessionTtl', env, 'AUTH_SESSION_TTL')
  const ttlMs = durationAt(ttl.value, DAY_MS, ttl.place, found)
  if (ttlMs === 0) found.error(ttl.place, 'ends sessions as they begin', "Write '24h'")
  const given = section.list('scope') ?? ['*']
  const scope = given.filter((one): one is string => typeof one === 'string')
  if (scope.length === 0 || scope.length < given.length)
    found.error(section.at('scope'), 'has to name bots', "Write ['*'] for all of them")
  for (const slug of scope)
    if (slug !== '*' && !bots.some((bot) => bot.slug === slug))
      found.error(
        section.at('scope'),
        `names ${typeOf(slug)}, which is no bot`,
        thereAre(slug, ['*', ...bots.map((bot) => bot.slug)]),
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
