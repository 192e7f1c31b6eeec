/** wait_for starts or continues the waits of running attempts: for a time, an event, or child jobs. */
import { NEVER_DUE, STEP_KINDS } from '../../../store/types/step.ts'
import { HAS_STEPS } from '../../fragments.ts'
import { NOW, PLANNED_ONCE } from './pieces.ts'

const SLEEP = STEP_KINDS.indexOf('sleep')
const EVENT = STEP_KINDS.indexOf('event')
const CHILD = STEP_KINDS.indexOf('child')

const openChild = (job: string, step: string): string =>
  `EXISTS (SELECT FROM jobmill.child AS c WHERE c.parent_id = ${job} AND c.step = ${step} AND c.ended_as IS NULL)`

/** Whether the open wait `s` is over: its last child has ended, or one of its events has arrived. */
const ARRIVED = `CASE WHEN s.kind = ${CHILD} THEN NOT ${openChild('s.job_id', 's.name')} ELSE
  EXISTS (SELECT FROM jobmill.job_event AS e WHERE e.job_id = s.job_id AND e.step IS NULL AND e.name = ANY (s.events)) END`

/** The open waits `s` of this attempt only: an earlier one may have waited for something else. */
const openWaits = (id: string, token: string): string =>
  `jobmill.step AS s WHERE s.job_id = ${id} AND s.token = ${token} AND s.ended_at IS NULL AND s.kind IN (${SLEEP}, ${EVENT}, ${CHILD})`

/**
 * How long a job stays parked by its attempt with this token, in milliseconds: 0 if it has no open wait, or
 * one of them is over.
 */
export const parkedMs = (id: string, token: string, at: string): string => `(
  SELECT CASE WHEN count(*) = 0 OR bool_or(${ARRIVED}) THEN 0
              ELSE greatest(0, min(coalesce(s.due_at, ${NEVER_DUE})) - ${at}) END
    FROM ${openWaits(id, token)})`

/** Whether the attempt has an open wait that another process can end. */
export const waitsForOthers = (id: string, token: string): string =>
  `EXISTS (SELECT FROM ${openWaits(id, token)} AND s.kind <> ${SLEEP})`

/** Whether one of the open waits of the attempt is over. */
export const hasArrived = (id: string, token: string): string =>
  `EXISTS (SELECT FROM ${openWaits(id, token)} AND ${ARRIVED})`

/**
 * The lock of the row in `running` is the fence. A repeated call waits for this lock until the first one has
 * committed. Each statement of the function has its own snapshot, so the repeated call then finds the event
 * that the first one took. Returns a JSON list with an entry for each item.
 */
export const WAIT_FOR = `
CREATE FUNCTION jobmill.wait_for(given_now int8, items json) RETURNS text
LANGUAGE plpgsql VOLATILE ${PLANNED_ONCE} AS $$
DECLARE
  at int8 := ${NOW};
  told json[] := '{}';
  i record;
  held record;
  known record;
  due int8;
  taken record;
  is_over bool;
  received text;
BEGIN
  FOR i IN
    SELECT x.* FROM json_to_recordset(items) AS x(id uuid, token int8, name text, place int4, events text[], wait_ms int8, until int8, children bool)
  LOOP
    SELECT r.flags, r.attempt INTO held FROM jobmill.running AS r WHERE r.id = i.id AND r.token = i.token FOR NO KEY UPDATE;
    IF NOT FOUND THEN
      told := told || json_build_object('accepted', false);
      CONTINUE;
    END IF;
    SELECT s.ended_at, s.due_at, s.result INTO known FROM jobmill.step AS s WHERE s.job_id = i.id AND s.name = i.name;
    IF FOUND AND known.ended_at IS NOT NULL THEN
      told := told || json_build_object('accepted', true, 'done', true, 'result', known.result);
      CONTINUE;
    END IF;
    IF i.children THEN
      is_over := NOT ${openChild('i.id', 'i.name')};
      -- Without a token, the step is no wait of the attempt. It stays open until it is recorded.
      UPDATE jobmill.step AS s SET token = CASE WHEN is_over THEN 0 ELSE i.token END WHERE s.job_id = i.id AND s.name = i.name;
      told := told || json_build_object('accepted', true, 'done', is_over);
      CONTINUE;
    END IF;
    due := CASE WHEN FOUND THEN known.due_at WHEN i.wait_ms IS NULL THEN i.until ELSE at + i.wait_ms END;
    received := NULL;
    IF i.events <> '{}' THEN
      UPDATE jobmill.job_event AS e SET step = i.name
       WHERE e.job_id = i.id AND e.id = (
         SELECT o.id FROM jobmill.job_event AS o WHERE o.job_id = i.id AND o.step IS NULL AND o.name = ANY (i.events)
          ORDER BY o.sent_at, o.id LIMIT 1)
      RETURNING e.name, e.payload INTO taken;
      IF FOUND THEN
        -- The payload is JSON text and is embedded unchanged.
        received := concat('{"event":', to_json(taken.name), ',"payload":', taken.payload, '}');
      END IF;
    END IF;
    is_over := received IS NOT NULL OR coalesce(due <= at, false);
    IF held.flags & ${HAS_STEPS} = 0 OR (is_over AND held.attempt <> 1) THEN
      UPDATE jobmill.running AS r SET flags = r.flags | ${HAS_STEPS}, attempt = CASE WHEN is_over THEN 1 ELSE r.attempt END WHERE r.id = i.id;
    END IF;
    INSERT INTO jobmill.step AS s (job_id, name, place, kind, token, started_at, ended_at, due_at, events, result)
    VALUES (i.id, i.name, i.place, CASE WHEN i.events = '{}' THEN ${SLEEP} ELSE ${EVENT} END, i.token, at, CASE WHEN is_over THEN at END, due,
            nullif(i.events, '{}'), received)
    ON CONFLICT (job_id, name) DO UPDATE SET token = excluded.token, ended_at = excluded.ended_at, result = excluded.result WHERE s.ended_at IS NULL;
    told := told || json_build_object('accepted', true, 'done', is_over, 'result', received, 'due_in_ms', CASE WHEN NOT is_over THEN due - at END);
  END LOOP;
  RETURN to_json(told);
END $$;`
