/** What the gateway itself cleans up: sessions and codes that are over, updates that cannot come again. */
import type { OwnDuty, Platform } from 'jobmill'
import { sql, type Tables } from 'jobmill-tables'
import type { Begun } from './sessions/begun.ts'
import type { Seen } from './sessions/seen.ts'
import type { Schema } from './sessions/steps.ts'

export interface UpkeepTools {
  readonly tables: Tables<Schema>
  readonly seen: Seen
  readonly begun: Begun
  readonly dedupeMs: number
}

const EVERY_MS = 5 * 60_000
/** No statement has more than this to delete: others write meanwhile. */
const BATCH = 500

export function upkeepDuty(tools: UpkeepTools): OwnDuty {
  return { name: 'telegram', every: EVERY_MS, run: () => cleanUp(tools) }
}

interface UpkeepEars {
  readonly onError: (error: unknown) => void
  /** Called after a pass that deleted something, with how many of each. */
  readonly onDeleted: (counts: Readonly<Record<string, number>>) => void
}

/** Without a database there is no mill to run duties, and what is in memory would grow. Returns what ends it. */
export function upkeepTimer(
  tools: UpkeepTools,
  platform: Pick<Platform, 'timer'>,
  { onError, onDeleted }: UpkeepEars,
): () => void {
  let isOver = false
  const arm = () => platform.timer(EVERY_MS, () => void pass(), { unref: true })
  let timer = arm()
  async function pass(): Promise<void> {
    await cleanUp(tools).then((counts) => {
      if (Object.values(counts).some((n) => n > 0)) onDeleted(counts)
    }, onError)
    if (!isOver) timer = arm()
  }
  return () => {
    isOver = true
    timer.cancel()
  }
}

async function cleanUp({ tables, seen, begun, dedupeMs }: UpkeepTools) {
  const { now } = tables
  // A repeat of an update comes no later than that.
  const before = sql<number>`${now} - ${sql.lit(dedupeMs)}`
  await inBatches('telegram_try', ['key'], sql`at < ${before}`)
  await inBatches('telegram_wrong', ['user_id'], sql`since < ${before} AND locked_until <= ${now}`)
  return {
    sessions: await inBatches('telegram_session', ['user_id', 'scope'], sql`expires_at <= ${now}`),
    codes: await inBatches('telegram_code', ['hash'], sql`expires_at <= ${now}`),
    updates: await seen.forget(),
    replies: await begun.forget(dedupeMs),
  }

  /** Says how many. Each condition begins with a column that has an index, and is asked again of what is deleted: it may have been renewed since. */
  async function inBatches(
    name: keyof Schema,
    key: readonly string[],
    isOver: ReturnType<typeof sql>,
  ): Promise<number> {
    const [table, columns] = [tables.table(name), sql.join(key.map((column) => sql.id(column)))]
    let gone = 0
    for (;;) {
      const { rows } = await sql`DELETE FROM ${table}
        WHERE (${columns}) IN (SELECT ${columns} FROM ${table} WHERE ${isOver} LIMIT ${sql.lit(BATCH)}) AND ${isOver}
        RETURNING 1 AS n`.execute(tables.db)
      gone += rows.length
      if (rows.length < BATCH) return gone
    }
  }
}
