/**
 * Long polling, for machines that Telegram cannot reach. Chats run in parallel. An update is acknowledged
 * only when it and all updates before it are stored or handled; the acknowledgment is the offset of the next
 * call.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Inside } from '../inside.ts'
import { MUST_RETRY, type Receive, recordResult } from '../intake/receive.ts'
import { asUpdate, factsOf, orderKeyOf, type RawUpdate } from '../update/update.ts'
import { retryAfterMs } from '../work/call.ts'
import type { Bot } from './bot.ts'

/** How long Telegram holds a poll open without updates. Must be shorter than the timeout of a call. */
const WAIT_SECONDS = 15
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** The maximum number of updates per poll, unacknowledged ones included. */
const BATCH = 100

export async function poll(bot: Bot, inside: Inside, receive: Receive): Promise<void> {
  const { log, fault, stopping: signal } = inside
  /** Ids of updates that are received and not finished. */
  const open = new Set<number>()
  /** Ids of finished updates. Telegram redelivers them until all updates before them are acknowledged. */
  let done = new Set<number>()
  const lanes = new Map<string, Promise<void>>()
  /** The last id seen. Telegram restarts its ids at a random number after a week without updates. */
  let last = -1
  let pauseMs = FIRST_PAUSE_MS

  /** Retries until the update is stored or handled; later updates of the same chat wait. */
  async function take(update: RawUpdate): Promise<void> {
    const { chatId } = factsOf(update)
    await fault('poll.received', chatId)
    while (!signal.aborted) {
      const receiving = receive(bot, update, { isPolled: true })
      const { result, retryAfterMs: againMs = FIRST_PAUSE_MS } = await recordResult(
        inside,
        bot,
        update,
        receiving,
      )
      if (!MUST_RETRY.includes(result)) {
        await fault('poll.taken', chatId)
        done.add(update.update_id)
        return void open.delete(update.update_id)
      }
      await rest(againMs)
    }
  }

  /** Returns false for a known update. */
  function add(update: RawUpdate): boolean {
    if (done.has(update.update_id) || open.has(update.update_id)) return false
    open.add(update.update_id)
    const lane = orderKeyOf(bot.id, factsOf(update)) ?? `update ${update.update_id}`
    const next = (lanes.get(lane) ?? Promise.resolve()).then(() => take(update))
    lanes.set(lane, next)
    void next.then(() => lanes.get(lane) === next && lanes.delete(lane))
    return true
  }

  while (!signal.aborted) {
    try {
      const offset = open.size > 0 ? Math.min(...open) : last + 1
      // While updates are unacknowledged, Telegram answers immediately and redelivers them.
      const timeout = open.size > 0 ? 0 : WAIT_SECONDS
      const askedAt = performance.now()
      const updates = await bot.api.getUpdates({ offset, timeout, limit: BATCH }, signal as never)
      const ids = updates.map(({ update_id: id }) => id)
      // Updates that Telegram no longer redelivers are acknowledged.
      done = new Set(ids.filter((id) => done.has(id)))
      let news = 0
      for (const given of updates) {
        const update = asUpdate(given)
        if (update !== null && add(update)) news += 1
      }
      if (ids.length > 0) last = Math.max(...ids)
      pauseMs = FIRST_PAUSE_MS
      await settled()
      // Limits the polling rate when Telegram only redelivers known updates.
      if (news === 0) await rest(FIRST_PAUSE_MS - (performance.now() - askedAt))
    } catch (error) {
      if (signal.aborted) break
      const waitMs = Math.max(pauseMs, retryAfterMs(error) ?? 0)
      log('warn', 'polling for updates failed', { bot: bot.slug, error: String(error), againInMs: waitMs })
      await rest(waitMs)
      pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)
    }
  }
  await Promise.all(lanes.values())

  async function rest(ms: number): Promise<void> {
    if (ms > 0) await pause(ms, undefined, { signal }).catch(() => {})
  }

  /** Waits until no update is open, for at most a second, because new updates may arrive. */
  async function settled(): Promise<void> {
    if (open.size === 0) return
    const moment = new AbortController()
    const some = AbortSignal.any([signal, moment.signal])
    await Promise.race([
      Promise.all(lanes.values()),
      pause(FIRST_PAUSE_MS, undefined, { signal: some }).catch(() => {}),
    ])
    moment.abort()
  }
}
