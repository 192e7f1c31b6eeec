/** The queues in the options: their settings, and which of them this process serves. */
import { nearest } from '../../job/options/known-keys.ts'
import { checkName } from '../../job/names.ts'
import { prepareQueueChange, type QueueChange, type QueueSettings } from '../../job/queue/queue-settings.ts'
import type { Problems } from './problems.ts'

export type QueueOptions = Omit<QueueChange, 'coolFor'>

const SETTINGS: readonly string[] = ['workers', 'paused', 'backoff', 'retain', 'limit']

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

export interface Served {
  readonly serve: readonly string[] | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** The queues that the kinds of this process route to. */
  readonly routed: readonly string[]
}

/** The option wins over the variable, which wins over the queues of the kinds. Duplicates are dropped. */
export function servedQueues({ serve, env, routed }: Served, found: Problems): string[] {
  const variable = env['JOBMILL_QUEUES']
  if (serve !== undefined && !Array.isArray(serve)) {
    found.add('error', 'OPTION_INVALID', 'serve', "must be an array. Pass names such as ['default']")
    return []
  }
  if (serve !== undefined)
    return warnOfUnserved(checkNames(Array.from(serve), 'serve', found), routed, 'serve', found)
  const listed = (variable ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  if (listed.length > 0) {
    return warnOfUnserved(checkNames(listed, 'JOBMILL_QUEUES', found), routed, 'JOBMILL_QUEUES', found)
  }
  return [...new Set(routed)]
}

function warnOfUnserved(
  names: string[],
  routed: readonly string[],
  option: string,
  found: Problems,
): string[] {
  for (const queue of names.length === 0 ? [] : new Set(routed)) {
    if (!names.includes(queue)) found.add('warning', 'QUEUES_MISSING', option, unservedKindsHere(queue))
  }
  return names
}

function unservedKindsHere(queue: string): string {
  return `kinds of this process route to "${queue}", which it does not serve. Serve it here or in another process`
}

function checkNames(names: readonly unknown[], option: string, found: Problems): string[] {
  const checked = names.flatMap((name, at) =>
    found.try(`${option}[${at}]`, [], () => [checkName(name, `${option}[${at}]`)]),
  )
  return [...new Set(checked)]
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
