/** Who leads which duty, and how many workers each instance runs for a queue with a worker total. */
import type { DutyRecord, Slot, SlotChange } from '../../store/types/duty.ts'
import { ask, askOne, askWith, type Context, inTransaction } from '../context.ts'
import { GIVEN_CTE } from '../fragments.ts'
import { inRounds } from '../../store/batch/rounds.ts'

const DUTIES = `
WITH ${GIVEN_CTE}
SELECT d.name, d.last_success_at AS "lastSuccessAt", d.failures, CASE WHEN d.expires_at > g.now THEN d.leader END AS leader,
       CASE WHEN d.expires_at > g.now THEN d.expires_at END AS "expiresAt"
  FROM given AS g, jobmill.duty AS d ORDER BY d.name COLLATE "C"`

export function duties(context: Context): Promise<DutyRecord[]> {
  return ask(context, DUTIES)
}

/**
 * Uses primary keys. Locks the live instances against a stop, so that none leaves a slot behind. Writes rows
 * in the order of their key to avoid deadlocks.
 */
const ASSIGN = `
WITH ${GIVEN_CTE}, living AS MATERIALIZED (
  SELECT i.id FROM jobmill.instance AS i, given AS g
   WHERE i.id = ANY (ARRAY(SELECT x.instance FROM given, json_to_recordset(p -> 'slots') AS x(instance uuid)))
     AND i.ended_at IS NULL AND i.expires_at > g.now
   ORDER BY i.id FOR SHARE OF i
), wanted AS MATERIALIZED (
  SELECT x.instance, q.id AS queue_id, x.workers
    FROM given, json_to_recordset(p -> 'slots') AS x(instance uuid, queue text, workers int4), living AS i, jobmill.queue AS q
   WHERE i.id = x.instance AND q.name = x.queue
), gone AS (
  DELETE FROM jobmill.slot AS s USING wanted AS w
   WHERE s.instance = w.instance AND s.queue_id = w.queue_id AND w.workers IS NULL
  RETURNING 1
), written AS (
  INSERT INTO jobmill.slot AS s (instance, queue_id, workers)
  SELECT w.instance, w.queue_id, w.workers FROM wanted AS w
   WHERE w.workers IS NOT NULL AND NOT EXISTS (
     SELECT FROM jobmill.slot AS t WHERE t.instance = w.instance AND t.queue_id = w.queue_id AND t.workers = w.workers)
   ORDER BY 1, 2
  ON CONFLICT (instance, queue_id) DO UPDATE SET workers = excluded.workers WHERE s.workers <> excluded.workers
  RETURNING 1
)
SELECT ((SELECT count(*) FROM gone) + (SELECT count(*) FROM written))::int4 AS rows`

/** Slots are deleted when their instance ends, so all remaining rows belong to live instances. */
const SLOTS = `
SELECT s.instance, q.name AS queue, s.workers FROM jobmill.slot AS s JOIN jobmill.queue AS q ON q.id = s.queue_id
 ORDER BY q.name COLLATE "C", s.instance`

export async function assign(context: Context, slots: readonly SlotChange[]): Promise<number> {
  const rounds = inRounds(slots, ({ instance, queue }) => `${instance} ${queue}`)
  const write = async (inside: Context): Promise<number> => {
    let written = 0
    for (const slots of rounds) written += (await askOne<{ rows: number }>(inside, ASSIGN, { slots })).rows
    return written
  }
  return rounds.length < 2 ? write(context) : inTransaction(context, write)
}

export function slots(context: Context): Promise<Slot[]> {
  return askWith(context, SLOTS)
}
