/**
 * What the config says of queues reaches them when it says something else than at the start before. Otherwise what is stored stands, as everywhere in a mill: an
 * operator may have changed it since.
 */
import type { Mill, QueueChange } from 'jobmill'
import type { Tables } from 'jobmill-tables'
import type { Schema } from '../sessions/steps.ts'

type Said = Pick<QueueChange, 'workers' | 'retain'>

/** Before the mill is started, which tells of differences. Says which queues were changed. */
export async function applySettings(
  mill: Pick<Mill, 'changeQueue'>,
  { db }: Tables<Schema>,
  queues: Readonly<Record<string, Said>>,
): Promise<string[]> {
  const changed: string[] = []
  for (const [queue, says] of Object.entries(queues)) {
    const said = JSON.stringify(says)
    const before = await db
      .selectFrom('telegram_setting')
      .select('said')
      .where('queue', '=', queue)
      .executeTakeFirst()
    if (before?.said === said) continue
    // The first time the mill itself brings them in.
    if (before !== undefined) {
      await mill.changeQueue(queue, differing(JSON.parse(before.said) as Said, says))
      changed.push(queue)
    }
    // Last: a process that dies in between says it again.
    await db
      .insertInto('telegram_setting')
      .values({ queue, said })
      .onConflict((held) => held.column('queue').doUpdateSet({ said }))
      .execute()
  }
  return changed
}

/** Only what the config says differently: the rest of a queue may be as an operator wants it. */
function differing(before: Said, now: Said): Said {
  const retain = Object.entries(now.retain ?? {}).filter(
    ([state, kept]) => kept !== before.retain?.[state as keyof NonNullable<Said['retain']>],
  )
  return {
    ...(now.workers === before.workers ? {} : { workers: now.workers ?? null }),
    ...(retain.length === 0 ? {} : { retain: Object.fromEntries(retain) }),
  }
}
