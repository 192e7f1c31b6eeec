/** Rewind runs an ended job again from one of its steps. Fork does so with a copy of a job. */
import type { NewJob } from '../../job/enqueue/new-job.ts'
import { isEnded } from '../../job/state.ts'
import type { Verdict } from '../../store/types/replies.ts'
import { STEPS_REWOUND } from '../../store/types/step.ts'
import { ask, askOne, type Context, inTransaction } from '../context.ts'
import { enqueueInSlices, ensureNames } from '../enqueue/enqueue.ts'
import { notifyFor, readyCounts } from '../enqueue/ready-counts.ts'
import { GIVEN_CTE, HAS_STEPS, NOW } from '../fragments.ts'
import { cancel } from '../operate/cancel.ts'
import { revive } from '../operate/retry.ts'
import { movedVerdict, operate } from '../operate/states.ts'

/** Uses the primary key of `step`, and the index child_open. */
const OPEN_CHILDREN = `
WITH ${GIVEN_CTE}
SELECT c.id FROM given, jobmill.step AS s JOIN jobmill.child AS c ON c.parent_id = s.job_id AND c.step = s.name AND c.ended_as IS NULL
 WHERE s.job_id = (p ->> 'id')::uuid AND s.place >= (p ->> 'place')::int4`

/** Uses primary keys, and the index child_parent. */
const REMOVE_STEPS = `
WITH ${GIVEN_CTE}, removed AS (
  DELETE FROM jobmill.step AS s USING given WHERE s.job_id = (p ->> 'id')::uuid AND s.place >= (p ->> 'place')::int4 RETURNING s.job_id, s.name
), freed AS (
  UPDATE jobmill.job_event AS e SET step = NULL
   WHERE e.job_id = ANY (ARRAY(SELECT job_id FROM removed)) AND e.step = ANY (ARRAY(SELECT name FROM removed))
), children_removed AS (
  DELETE FROM jobmill.child AS c
   WHERE c.parent_id = ANY (ARRAY(SELECT job_id FROM removed)) AND c.step = ANY (ARRAY(SELECT name FROM removed))
  RETURNING c.id
)
SELECT count(*) FROM children_removed`

export async function rewind(context: Context, id: string, place: number): Promise<Verdict> {
  const counts = readyCounts()
  const [verdict] = await operate(context, [id], {
    look: (ids) =>
      inTransaction(context, async (inside) => {
        const { refused, revived } = await revive(inside, ids, { rewindTo: place })
        if (revived.length > 0) {
          const open = await ask<{ id: string }>(inside, OPEN_CHILDREN, { id, place })
          const children = open.map((child) => child.id)
          // Before the records, like the finish of a child, so that the two cannot deadlock.
          if (children.length > 0) await cancel(inside, children, STEPS_REWOUND)
          await ask(inside, REMOVE_STEPS, { id, place })
        }
        for (const { queue, in_order_queue: waits } of revived) counts.add(queue, waits ? 0 : 1)
        return new Map([...refused, ...revived.map(movedVerdict)].map((one) => [one.id, one]))
      }),
    rest: (_, state) => (isEnded(state) ? undefined : { id, verdict: 'refused', state }),
  })
  notifyFor(context, counts)
  return verdict ?? { id, verdict: 'unknown', state: null }
}

const EXISTS = `
WITH ${GIVEN_CTE}
SELECT EXISTS (SELECT FROM jobmill.job AS j WHERE j.id = (p ->> 'id')::uuid) AS is_there,
       EXISTS (SELECT FROM jobmill.job AS j WHERE j.id = (p ->> 'as')::uuid) AS is_forked FROM given`

/** A sleep ends when its time is up. Nothing writes its end. Other sessions do not see the new job yet. */
const COPY = `
WITH ${GIVEN_CTE}, copied AS (
  INSERT INTO jobmill.step (job_id, name, place, kind, token, started_at, ended_at, due_at, events, result, checkpoint)
  SELECT (p ->> 'as')::uuid, s.name, s.place, s.kind, 0, s.started_at, coalesce(s.ended_at, s.due_at), s.due_at, s.events, s.result, s.checkpoint
    FROM given, jobmill.step AS s
   WHERE s.job_id = (p ->> 'id')::uuid AND s.place < (p ->> 'place')::int4
     AND (s.ended_at IS NOT NULL OR s.events IS NULL AND s.due_at <= ${NOW})
  RETURNING job_id
), made AS MATERIALIZED (
  SELECT DISTINCT job_id AS id FROM copied
), in_ready AS (
  UPDATE jobmill.ready AS r SET flags = r.flags | ${HAS_STEPS} WHERE r.id = ANY (ARRAY(SELECT id FROM made))
), in_later AS (
  UPDATE jobmill.later AS r SET flags = r.flags | ${HAS_STEPS} WHERE r.id = ANY (ARRAY(SELECT id FROM made))
), in_order_queue AS (
  UPDATE jobmill.order_queue AS r SET flags = r.flags | ${HAS_STEPS} WHERE r.id = ANY (ARRAY(SELECT id FROM made))
)
SELECT id FROM made`

export async function fork(context: Context, id: string, place: number, job: NewJob): Promise<boolean> {
  if (!context.names.knowsAllOf([job])) await ensureNames(context, [job])
  const counts = readyCounts()
  const isThere = await inTransaction(context, async (inside) => {
    const found = await askOne<{ is_there: boolean; is_forked: boolean }>(inside, EXISTS, { id, as: job.id })
    if (!found.is_there || found.is_forked) return found.is_there
    await enqueueInSlices(inside, inside.connection.query, [[job]], counts)
    await ask(inside, COPY, { id, as: job.id, place })
    return true
  })
  notifyFor(context, counts)
  return isThere
}
