/** The kinds of all running processes and of this one. Only those of this process have payload schemas. */
import { DEFAULTS } from '../../job/defaults.ts'
import { ON_CANCELLED_QUEUE, onCancelledKind } from '../../job/attempt/on-cancelled.ts'
import { onDeadKind } from '../../job/attempt/on-dead.ts'
import { kindsOf } from '../../job/kind/kind-name.ts'
import { jsonSchemaOf } from '../../job/payload/schema.ts'
import { isClaiming } from '../../store/types/instance.ts'
import type { MillTools } from '../tools.ts'
import { ALERT_KIND } from '../../job/alert/rule.ts'
import { BULK_KIND } from './bulk/bulk.ts'

export interface KindView {
  readonly kind: string
  /** The default queue and max attempts of its jobs. Null for a kind that this process does not define. */
  readonly queue: string | null
  readonly maxAttempts: number | null
  /** Whether a running process handles it. */
  readonly served: boolean
  /** The number of processes that handle it. */
  readonly instances: number
  /** The payload schema as JSON Schema (draft 2020-12). Null when this process does not know it. */
  readonly schema: Readonly<Record<string, unknown>> | null
  /** Its indexed payload paths. Empty when this process does not know them. */
  readonly indexedPayload: readonly string[]
}

export interface Kinds {
  /** Sorted by name, without the built-in kinds. */
  kinds(): Promise<KindView[]>
}

export function kinds({ opened, options: { jobs, queueOf } }: MillTools): Kinds {
  return {
    async kinds() {
      const records = (await (await opened()).instances.list()).filter(isClaiming)
      const alive = records.map((one) => ({ ...one, kinds: kindsOf(one.kinds) }))
      const own = new Map(jobs.map((job) => [job.kind, job]))
      const followUps = [
        ...alive.flatMap(({ onDead }) => onDead.map(onDeadKind)),
        // The record of an instance does not list its kinds with `onCancelled`.
        ...alive
          .filter(({ queues }) => queues.includes(ON_CANCELLED_QUEUE))
          .flatMap(({ kinds: all }) => all.map(onCancelledKind)),
      ]
      const ours = new Set([ALERT_KIND, BULK_KIND, ...followUps.filter((kind) => !own.has(kind))])
      const names = new Set([...own.keys(), ...alive.flatMap((one) => one.kinds)])
      return [...names]
        .filter((kind) => !ours.has(kind))
        .toSorted()
        .map((kind) => {
          const job = own.get(kind)
          const instances = alive.filter((one) => one.kinds.includes(kind)).length
          return {
            kind,
            queue: job === undefined ? null : queueOf(kind),
            maxAttempts: job === undefined ? null : (job.maxAttempts ?? DEFAULTS.maxAttempts),
            served: instances > 0,
            instances,
            schema: job?.payload === undefined ? null : jsonSchemaOf(job.payload),
            indexedPayload: job?.indexedPayload ?? [],
          }
        })
    },
  }
}
