/** The queue of a kind: from the kind itself, a table of prefixes, a function, or `default`. */
import { DEFAULTS } from '../../job/defaults.ts'
import type { AnyJob } from '../../job/definition.ts'
import { JobmillError, quote } from '../../job/errors.ts'
import { checkObjectKeys } from '../../job/options/known-keys.ts'
import { checkName } from '../../job/names.ts'
import type { Problems } from './problems.ts'

/** `{ 'email.': 'mail', 'github.': 'github' }`: the longest matching prefix wins. */
export type Route = Readonly<Record<string, string>> | ((kind: string) => string)

export function router(
  route: Route | undefined,
  jobs: readonly AnyJob[],
  found: Problems,
): (kind: string) => string {
  const own = new Map(
    jobs.flatMap(({ kind, queue }) => (queue === undefined ? [] : [[kind, queue] as const])),
  )
  const otherwise = found.try('route', defaultQueue, () => ruleOf(route, found))
  return (kind) => own.get(kind) ?? otherwise(kind)
}

const defaultQueue = (): string => DEFAULTS.queue

function ruleOf(route: Route | undefined, found: Problems): (kind: string) => string {
  if (route === undefined) return defaultQueue
  if (typeof route === 'function') return (kind) => checkName(route(kind), `route(${quote(kind)})`)
  if (typeof route !== 'object' || route === null) {
    throw new JobmillError('OPTION_INVALID', 'must be an object or a function', {
      field: 'route',
      value: quote(route),
      fix: "Pass { 'email.': 'mail' } or (kind) => queue",
    })
  }
  checkObjectKeys(route, 'route', Object.keys(route))
  for (const [prefix, queue] of Object.entries(route))
    found.try('route', undefined, () => void checkName(queue, `route[${quote(prefix)}]`))
  const prefixes = Object.entries(route).toSorted(([a], [b]) => b.length - a.length)
  return (kind) => prefixes.find(([prefix]) => kind.startsWith(prefix))?.[1] ?? DEFAULTS.queue
}
