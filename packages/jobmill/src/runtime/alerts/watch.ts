/**
 * The duty `alert`: compares the diagnostics with the alert rules and enqueues what each rule sends. A
 * message is stored in the outbox of its rule before it is enqueued, and removed afterwards. If the process
 * dies in between, the next pass enqueues the message again with the same job id.
 */
import type { AlertMessage, AlertState } from '../../job/alert/rule.ts'
import type { EnqueueItem } from '../../job/enqueue/handle.ts'
import { isSameValue } from '../../job/queue/overrides.ts'
import { storableText } from '../../job/text/error-text.ts'
import type { FullStore } from '../../store/store.ts'
import type { AlertRecord } from '../../store/types/alert.ts'
import type { Counts } from '../../upkeep/duty.ts'
import type { NeedsAttention } from '../diagnose/check.ts'
import type { AlertPayload } from './alert-job.ts'
import { alertItem } from './alert-item.ts'
import { decide } from './decide.ts'

export interface WatchTools {
  readonly opened: () => Promise<Pick<FullStore, 'alerts' | 'now'>>
  readonly diagnostics: () => Promise<readonly NeedsAttention[]>
  readonly enqueue: (items: readonly EnqueueItem<AlertPayload>[]) => Promise<unknown>
  /** The name of this process in messages. */
  readonly label: () => string | null
  /** Called when there is a rule: this process then also sends messages. */
  readonly serve: () => Promise<unknown>
}

/** Each text of a message. A finding may quote a long error. */
const MOST_CHARS = 2_000
/** If the database cannot be checked, these checks find nothing, which is not a recovery. */
const OF_DATABASE = ['schema', 'horizon', 'replica']

export async function watchAlerts(tools: WatchTools, signal: AbortSignal): Promise<Counts> {
  const store = await tools.opened()
  const records = await store.alerts.list()
  if (records.length === 0) return { rules: 0, sent: 0 }
  await tools.serve()
  // Messages that an earlier pass stored, but perhaps did not enqueue.
  for (const { name, state } of records) await enqueue(name, state.outbox)
  const findings = (await tools.diagnostics()).map((one) => ({
    ...one,
    message: storableText(one.message, MOST_CHARS),
    fix: storableText(one.fix, MOST_CHARS),
  }))
  const unread = new Set(findings.some(({ check }) => check === 'database') ? OF_DATABASE : [])
  const now = await store.now()
  let sent = 0
  for (const record of records) {
    signal.throwIfAborted()
    const { name, rule, state } = record
    const next = rule.paused ? { ...state, outbox: [] } : decide(name, rule, state, { findings, unread, now })
    sent += await write(record, next)
  }
  return { rules: records.length, sent }

  /** Skips a rule that another process has changed, and sends nothing for it: the next pass decides again. */
  async function write({ name, revision, rule, state }: AlertRecord, next: AlertState): Promise<number> {
    if (isSameValue(state, next)) return 0
    const written = await store.alerts.put({ name, revision, rule, state: next })
    if (written === null || next.outbox.length === 0) return 0
    await enqueue(name, next.outbox)
    await store.alerts.put({ name, revision: written, rule, state: { ...next, outbox: [] } })
    return next.outbox.length
  }

  async function enqueue(rule: string, messages: readonly AlertMessage[]): Promise<void> {
    const label = tools.label()
    if (messages.length > 0) await tools.enqueue(messages.map((message) => alertItem(rule, message, label)))
  }
}
