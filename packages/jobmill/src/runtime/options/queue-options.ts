/**
 * The queues in the options: their settings, the queue of each kind, and which queues this process serves.
 */
import { DEFAULTS } from '../../job/defaults.ts'
import type { AnyJob } from '../../job/kind/definition.ts'
import { invalidValue, quote } from '../../job/errors.ts'
import { checkObjectKeys, nearest } from '../../job/options/known-keys.ts'
import { checkName } from '../../job/names.ts'
import { prepareQueueChange, type QueueChange, type QueueSettings } from '../../job/queue/queue-settings.ts'
import type { DeclaredLimit } from '../../store/types/limit.ts'
import type { Problems } from './problems.ts'

export type QueueOptions = Omit<QueueChange, 'coolFor'>

const SETTINGS: readonly string[] = [
  'workers',
  'paused',
  'backoff',
  'retain',
  'limit',
  'targetLatency',
  'groups',
]

export function queueSettings(
  queues: Readonly<Record<string, QueueOptions>>,
  found: Problems,
): { name: string; settings: Partial<QueueSettings> }[] {
  if (!found.names(queues, 'queues', '{ mail: { workers: 4 } }')) return []
  return Object.entries(queues).flatMap(([name, options]) => {
    const at = `queues.${name}`
    if (!found.keys(options, at, SETTINGS)) return []
    const known = Object.fromEntries(Object.entries(options).filter(([key]) => SETTINGS.includes(key)))
    return found.try(at, [], () => {
      checkName(name, at)
      return [{ name, settings: prepareQueueChange(known, at).settings }]
    })
  })
}

/** `{ 'email.': 'mail', 'github.': 'github' }`: the longest matching prefix wins. */
export type Route = Readonly<Record<string, string>> | ((kind: string) => string)

/** The queue of a kind: from the kind itself, a table of prefixes, a function, or `default`. */
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
    const fix = "Pass { 'email.': 'mail' } or (kind) => queue"
    throw invalidValue('route', route, 'must be an object or a function', fix)
  }
  checkObjectKeys(route, 'route', Object.keys(route))
  for (const [prefix, queue] of Object.entries(route))
    found.try('route', undefined, () => void checkName(queue, `route[${quote(prefix)}]`))
  const prefixes = Object.entries(route).toSorted(([a], [b]) => b.length - a.length)
  return (kind) => prefixes.find(([prefix]) => kind.startsWith(prefix))?.[1] ?? DEFAULTS.queue
}

/**
 * The option wins over the variable, which wins over the queues that the kinds of this process route to.
 * Duplicates are dropped.
 */
export function servedQueues(
  serve: readonly string[] | undefined,
  variable: string | undefined,
  routed: readonly string[],
  found: Problems,
): string[] {
  if (serve !== undefined && !Array.isArray(serve)) {
    found.add('error', 'OPTION_INVALID', 'serve', "must be an array. Pass names such as ['default']")
    return []
  }
  const listed = (variable ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  if (serve === undefined && listed.length === 0) return [...new Set(routed)]
  const option = serve === undefined ? 'JOBMILL_QUEUES' : 'serve'
  const checked = (serve === undefined ? listed : Array.from(serve)).flatMap((name, at) =>
    found.try(`${option}[${at}]`, [], () => [checkName(name, `${option}[${at}]`)]),
  )
  const names = new Set(checked)
  // Without a name, this process only enqueues.
  for (const queue of names.size === 0 ? [] : new Set(routed)) {
    const what = `kinds of this process route to "${queue}", which it does not serve. Serve it here or in another process`
    if (!names.has(queue)) found.add('warning', 'QUEUES_MISSING', option, what)
  }
  return [...names]
}

/** A chunk that is larger than its queue has workers would never be full. */
export function checkChunks(
  jobs: readonly AnyJob[],
  queueOf: (kind: string) => string,
  declared: readonly { readonly name: string; readonly settings: Partial<QueueSettings> }[],
  limits: readonly DeclaredLimit[],
  found: Problems,
): void {
  for (const { kind, chunk } of jobs) {
    if (chunk === undefined) continue
    const queue = queueOf(kind)
    const { workers, limit } = declared.find(({ name }) => name === queue)?.settings ?? {}
    const option = `job ${kind}.chunk.size`
    const slots = workers ?? DEFAULTS.workers
    if (slots > 0 && slots < chunk.size) {
      const what = `is ${chunk.size}, and the queue "${queue}" has ${slots} workers, one for each job of a chunk`
      const fix = `Set queues.${queue}.workers to ${chunk.size} or more, or lower the size`
      found.add('error', 'OPTION_CONFLICT', option, `${what}. ${fix}`)
    }
    const held = limits.find(({ name }) => name === limit)?.settings
    if (held?.type === 'concurrency' && held.most < chunk.size) {
      const what = `is ${chunk.size}, and the limit "${limit}" of the queue "${queue}" permits ${held.most} jobs at once`
      found.add('error', 'OPTION_CONFLICT', option, `${what}. Raise the limit, or lower the size`)
    }
  }
}

/** Settings for a queue that this process neither routes to nor serves are often a typo. */
export function warnOfStrays(
  declared: readonly { readonly name: string }[],
  used: readonly string[],
  found: Problems,
): void {
  if (used.length === 0) return
  for (const { name } of declared) {
    if (used.includes(name)) continue
    const near = nearest(name, used)
    const hint = near === undefined ? '' : `. Did you mean "${near}"?`
    found.add('warning', 'QUEUES_MISSING', `queues.${name}`, `no kind of this process uses this queue${hint}`)
  }
}
