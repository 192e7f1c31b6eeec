/** The queues that code names: their settings at creation, and which of them this process serves. */
import { checkObjectKeys } from '../job/known-keys.ts'
import { checkName } from '../job/names.ts'
import {
  DEFAULT_QUEUE_SETTINGS,
  prepareQueueChange,
  type QueueChange,
  type QueueSettings,
} from '../job/queue-settings.ts'
import type { Problems } from './problems.ts'

export type QueueOptions = Omit<QueueChange, 'coolFor'>

export function queueSettings(
  queues: Readonly<Record<string, QueueOptions>>,
  found: Problems,
): { name: string; settings: QueueSettings }[] {
  found.try('queues', undefined, () => checkObjectKeys(queues, 'queues', Object.keys(queues)))
  return Object.entries(queues).flatMap(([name, options]) => {
    const at = `queues.${name}`
    return found.try(at, [], () => {
      checkName(name, at)
      checkObjectKeys(options, at, ['workers', 'paused', 'backoff', 'retain'])
      return [{ name, settings: { ...DEFAULT_QUEUE_SETTINGS, ...prepareQueueChange(options, at).settings } }]
    })
  })
}

export interface Served {
  readonly serve: readonly string[] | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where the kinds of this process route to. */
  readonly routed: readonly string[]
}

/** The option counts before the variable, and that before what follows from the kinds. Repeats are dropped. */
export function servedQueues({ serve, env, routed }: Served, found: Problems): string[] {
  const variable = env['JOBMILL_QUEUES']
  if (serve !== undefined && !Array.isArray(serve)) {
    found.add('error', 'OPTION_INVALID', 'serve', "is not an array. Give names, such as ['default']")
    return []
  }
  if (serve !== undefined) return named(Array.from(serve), 'serve', found)
  const listed = (variable ?? '').split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
  if (listed.length > 0) {
    const names = named(listed, 'JOBMILL_QUEUES', found)
    for (const queue of new Set(routed)) {
      if (!names.includes(queue))
        found.add('warning', 'QUEUES_MISSING', 'JOBMILL_QUEUES', unservedHere(queue))
    }
    return names
  }
  return [...new Set(routed)]
}

function unservedHere(queue: string): string {
  return `kinds of this process route to "${queue}", which it does not serve; another process must`
}

function named(names: readonly unknown[], option: string, found: Problems): string[] {
  const checked = names.flatMap((name, at) =>
    found.try(`${option}[${at}]`, [], () => [checkName(name, `${option}[${at}]`)]),
  )
  return [...new Set(checked)]
}
