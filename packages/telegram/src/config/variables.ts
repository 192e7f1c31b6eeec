/** Checks the variables of the bots: two bots must not share one, and an unread one is likely a typo. */
import { nearest } from 'jobmill/cli'
import type { Problems } from './problems.ts'
import { slugFor } from './read-bot.ts'
import { botVariable, type Env, nonBlank } from './secrets.ts'

const KINDS = ['TOKEN', 'SECRET', 'SECRET_OLD', 'HTTP_SECRET']
const ENDINGS = KINDS.flatMap((kind) => [kind, `${kind}_FILE`])

/**
 * `a` and `a-http` would both use BOT_A_HTTP_SECRET: the first as its signing key, the second as its webhook
 * secret.
 */
export function refuseSameNames(slugs: readonly string[], found: Problems): void {
  const ofAll = slugs.flatMap((slug) => KINDS.map((what) => ({ slug, name: botVariable(slug, what) })))
  for (const { slug, name } of ofAll) {
    const other = ofAll.find((one) => one.name === name && one.slug < slug)
    if (other !== undefined)
      found.at(`bots.${slug}`).error(`would share ${name} with ${other.slug}`, 'Rename one of the two slugs')
  }
}

export function warnOfUnread(names: readonly string[], env: Env, found: Problems): void {
  const slugs = names.map(slugFor)
  const known = new Set(slugs.flatMap((slug) => ENDINGS.map((what) => botVariable(slug, what))))
  for (const name of Object.keys(env)) {
    if (!name.startsWith('BOT_') || known.has(name) || nonBlank(env[name]) === undefined) continue
    const meant = meantBy(name, slugs)
    const fix =
      meant === undefined
        ? 'Unset it, or add its bot: variables are named BOT_<SLUG>_TOKEN and BOT_<SLUG>_SECRET'
        : `Did you mean ${meant}?`
    found.at(name).warn('is set, but no bot uses it', fix)
  }
}

/** Matches a correct slug with a mistyped suffix, or the other way round. */
function meantBy(name: string, slugs: readonly string[]): string | undefined {
  for (const slug of slugs) {
    const start = botVariable(slug, '')
    const near = name.startsWith(start) ? nearest(name.slice(start.length), ENDINGS) : undefined
    if (near !== undefined) return botVariable(slug, near)
  }
  for (const what of ENDINGS) {
    const typed = name.slice('BOT_'.length, -what.length - 1).replaceAll('_', '-')
    const near = name.endsWith(`_${what}`) ? nearest(typed, slugs) : undefined
    if (near !== undefined) return botVariable(near, what)
  }
  return undefined
}
