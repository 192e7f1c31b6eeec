/**
 * Sends messages that are the only result of an update: a login prompt, or the notice that the update cannot
 * be stored. Sends them once, however often the update is delivered.
 */
import type { EnqueuedJob, Mill } from 'jobmill'
import type { Bot } from '../bots/bot.ts'
import type { Reply } from '../handlers/handler.ts'
import { type UpdateFacts, updateKey } from '../update/update.ts'
import { sendKind } from '../work/names.ts'
import { optionsOf, sendPayload } from '../work/send-job.ts'

export interface SayTools {
  readonly mill: Pick<Mill, 'enqueueMany'>
  readonly dedupeMs: number
}

/** Returns the jobs that send the replies. They are duplicates if the update was answered before. */
export type Say = (
  bot: Bot,
  facts: UpdateFacts,
  replies: readonly Reply[],
  name: 'prompt' | 'dead',
) => Promise<readonly EnqueuedJob[]>

/**
 * The dedupe key is held for days after the job ended: a redelivery changes nothing and is reported as a
 * duplicate.
 */
export function onceOf(bot: Bot, { updateId }: UpdateFacts, dedupeMs: number) {
  return { key: updateKey(bot.id, updateId), holdFor: dedupeMs, holdAfter: 'ended' } as const
}

export function sayer({ mill, dedupeMs }: SayTools): Say {
  return async (bot, facts, replies, name) => {
    const dedupe = onceOf(bot, facts, dedupeMs)
    const items = replies.map((reply, n) => {
      const payload = sendPayload(bot, reply, `${dedupe.key}/${name}/${n}`)
      // The first reply has the key of the update.
      return { payload, ...optionsOf(bot, payload), ...(n === 0 ? { dedupe } : {}) }
    })
    return items.length === 0 ? [] : mill.enqueueMany(sendKind(bot), items)
  }
}
