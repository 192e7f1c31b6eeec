/** Connects the job that sends alerts, the duty that decides on them, and `mill.alerts`. */
import type { JobDefinition } from '../../job/kind/definition.ts'
import type { EnqueueItem } from '../../job/enqueue/handle.ts'
import type { Platform } from '../../platform/platform.ts'
import type { FullStore } from '../../store/store.ts'
import type { Counts } from '../../upkeep/duty.ts'
import type { NeedsAttention } from '../diagnose/check.ts'
import type { Engine } from '../engine.ts'
import { alertJob, type AlertPayload } from './alert-job.ts'
import { alertsApi } from './alerts.ts'
import { watchAlerts } from './watch.ts'

export interface AlertingTools {
  readonly opened: () => Promise<FullStore>
  readonly platform: Platform
  readonly enqueue: (
    job: JobDefinition<AlertPayload>,
    items: readonly EnqueueItem<AlertPayload>[],
  ) => Promise<readonly { readonly id: string }[]>
  /** The name of this process in messages. */
  readonly label: () => string | null
  readonly engine: () => Pick<Engine, 'alertSoon' | 'serveAlerts'> | null
  readonly diagnostics: () => Promise<readonly NeedsAttention[]>
}

export function createAlerting({ opened, platform, label, engine, diagnostics, ...tools }: AlertingTools) {
  const job = alertJob({ opened, platform })
  const enqueue = (items: readonly EnqueueItem<AlertPayload>[]) => tools.enqueue(job, items)
  return {
    job,
    alerts: alertsApi({
      opened,
      enqueue,
      label,
      newId: () => platform.id(),
      changed: () => engine()?.alertSoon(),
    }),
    /** One pass of the duty. */
    pass: (signal: AbortSignal): Promise<Counts> =>
      watchAlerts(
        { opened, diagnostics, enqueue, label, serve: async () => engine()?.serveAlerts() },
        signal,
      ),
  }
}
