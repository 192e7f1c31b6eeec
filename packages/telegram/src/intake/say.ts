/**
 * Sends messages that are the only result of an update: a login prompt, or the notice that the update cannot
 * be stored. Sends them once, however often the update is delivered.
 */
import type { Mill } from 'jobmill'
import type { Tables } from 'jobmill-tables'
import type { Bot } from '../bots/bot.ts'
import type { Reply } from '../handlers/handler.ts'
import type { Schema } from '../sessions/steps.ts'
import { type UpdateFacts, updateKey } from '../update/update.ts'
import { sendKind } from '../work/names.ts'
import { optionsOf, sendPayload } from '../work/send-job.ts'

export interface SayTools {
  /** Null without a database. */
  readonly mill: Pick<Mill, 'enqueue' | 'wake'> | null
  readonly tables: Tables<Schema>
  readonly dedupeMs: number
}

export type Say = (
  bot: Bot,
  facts: UpdateFacts,
  replies: readonly Reply[],
  name: 'prompt' | 'dead',
) => Promise<'new' | 'duplicate' | 'nothing'>

/**
 * The dedupe key is held for days after the job ended: a redelivery changes nothing and is reported as a
 * duplicate.
 */
export function onceOf(bot: Bot, { updateId }: UpdateFacts, dedupeMs: number) {
  return { key: updateKey(bot.id, updateId), holdFor: dedupeMs, holdAfter: 'ended' } as const
}

export function outcomeOf({ outcome }: { readonly outcome: string }): 'new' | 'duplicate' {
  return outcome === 'duplicate' ? 'duplicate' : 'new'
}

export function sayer({ mill, tables, dedupeMs }: SayTools): Say {
  return async (bot, facts, replies, name) => {
    const dedupe = onceOf(bot, facts, dedupeMs)
    const [first, ...rest] = replies.map((reply, n) =>
      sendPayload(bot, reply, `${dedupe.key}/${name}${n === 0 ? '' : `/${n}`}`),
    )
    if (first === undefined || mill === null) return 'nothing'
    // The first reply has the key of the update. The others are written in the same transaction.
    const options = { ...optionsOf(bot, first), dedupe }
    if (rest.length === 0) return outcomeOf(await mill.enqueue(sendKind(bot), first, options))
    const outcome = await tables.transaction(async (_, tx) => {
      const outcome = outcomeOf(await mill.enqueue(sendKind(bot), first, { ...options, tx }))
      if (outcome === 'duplicate') return outcome
      for (const payload of rest)
        await mill.enqueue(sendKind(bot), payload, { ...optionsOf(bot, payload), tx })
      return outcome
    })
    mill.wake()
    return outcome
  }
}
