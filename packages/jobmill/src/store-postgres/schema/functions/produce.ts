/**
 * The functions for SQL clients: enqueue, send_event and cancel. They run with the rights of
 * the owner of the schema, so a role needs no right on a table. Their names are fully qualified, so a search
 * path cannot replace them. They send no notification: inside a transaction of a user, it would wait for the
 * locks of all other notifications.
 */
import { BOUNDS, DEFAULTS } from '../../../job/defaults.ts'
import { DEDUPE_SCOPES, HOLDS_AFTER } from '../../../job/enqueue/new-job.ts'
import { STATE_CODE } from '../../../job/state.ts'
import { CANCEL_WAITING, REQUEST_CANCEL } from '../../operate/cancel.ts'
import { PRODUCE_PARTS } from './produce-parts.ts'

const AS_OWNER = 'SECURITY DEFINER SET search_path = pg_catalog, pg_temp'
const quoted = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(', ')

/** The options of `enqueue` in the library, without `onConflict: 'replace'` and `tx`. */
const OPTIONS = [
  'id',
  'queue',
  'priority',
  'maxAttempts',
  'delay',
  'runAt',
  'timeout',
  'tags',
  'metadata',
  'dedupe',
  'dedupeKey',
  'orderKey',
  'group',
]
const DEDUPE_OPTIONS = ['key', 'scope', 'holdFor', 'holdAfter', 'onConflict']

/**
 * Calls the function of the library, which it overloads. A job that loses its dedupe key returns the holder.
 * If the holder ended since, it tries again.
 */
const ENQUEUE_ONE = `
CREATE FUNCTION jobmill.enqueue(kind text, payload json DEFAULT 'null', options jsonb DEFAULT '{}') RETURNS uuid
LANGUAGE plpgsql VOLATILE ${AS_OWNER} AS $$
#variable_conflict use_column
DECLARE
  o CONSTANT jsonb := enqueue.options;
  body CONSTANT text := coalesce(enqueue.payload, 'null')::text;
  d jsonb := enqueue.options -> 'dedupe';
  kind_name CONSTANT text := jobmill.option_text(to_jsonb(coalesce(enqueue.kind, '')), 'kind', ${BOUNDS.nameChars}, true);
  at CONSTANT int8 := floor(extract(epoch FROM clock_timestamp()) * 1000)::int8;
  defaults jsonb;
  new_id uuid;
  queue_name text;
  queue_id int4;
  kind_id int4;
  priority int4;
  max_attempts int4;
  timeout_ms int8;
  tag_list text[] := '{}';
  dedupe_name text;
  group_name text;
  rare jsonb := '{}';
  holder uuid;
  placed json;
BEGIN
  IF octet_length(body) > ${DEFAULTS.payloadLimitBytes} THEN
    PERFORM jobmill.refuse('PAYLOAD_TOO_LARGE', 'payload', 'has ' || octet_length(body) || ' bytes, more than ${DEFAULTS.payloadLimitBytes}', 'Store the data elsewhere and pass a reference');
  END IF;
  -- Refuses the character U+0000 and lone surrogates, which json accepts.
  PERFORM body::jsonb;
  SELECT k.id, k.defaults::jsonb INTO kind_id, defaults FROM jobmill.kind AS k WHERE k.name = kind_name;
  queue_name := coalesce(defaults ->> 'queue', '${DEFAULTS.queue}');
  IF o IS DISTINCT FROM '{}' THEN
    PERFORM jobmill.check_options(o, 'options', ARRAY[${quoted(OPTIONS)}]);
    queue_name := coalesce(jobmill.option_text(o -> 'queue', 'queue', ${BOUNDS.nameChars}, true), queue_name);
    priority := jobmill.option_whole(o -> 'priority', 'priority', ${BOUNDS.priority.least}, ${BOUNDS.priority.most});
    max_attempts := jobmill.option_whole(o -> 'maxAttempts', 'maxAttempts', ${BOUNDS.maxAttempts.least}, ${BOUNDS.maxAttempts.most});
    timeout_ms := jobmill.option_ms(o -> 'timeout', 'timeout', 1);
    IF o ? 'id' AND coalesce(o ->> 'id', '') !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
      PERFORM jobmill.refuse('ID_INVALID', 'id', 'must be a UUID (got ' || left((o -> 'id')::text, 40) || ')', 'Pass your own key as dedupeKey instead');
    END IF;
    new_id := (o ->> 'id')::uuid;
    IF o ? 'tags' AND jsonb_typeof(o -> 'tags') <> 'array' THEN
      PERFORM jobmill.refuse('OPTION_INVALID', 'tags', 'must be an array (got ' || left((o -> 'tags')::text, 40) || ')', 'Pass an array of strings');
    END IF;
    SELECT coalesce(array_agg(t.tag ORDER BY t.n), '{}') INTO tag_list
      FROM (SELECT jobmill.option_text(e.tag, 'tags', ${BOUNDS.tagChars}, false) AS tag, min(e.n) AS n
              FROM jsonb_array_elements(coalesce(o -> 'tags', '[]')) WITH ORDINALITY AS e(tag, n) GROUP BY 1) AS t;
    IF cardinality(tag_list) > ${BOUNDS.tags} THEN
      PERFORM jobmill.refuse('OPTION_INVALID', 'tags', 'has more than ${BOUNDS.tags} tags', 'Pass at most ${BOUNDS.tags} tags');
    END IF;
    IF o ? 'metadata' AND jsonb_typeof(o -> 'metadata') <> 'object' THEN
      PERFORM jobmill.refuse('OPTION_INVALID', 'metadata', 'must be an object (got ' || left((o -> 'metadata')::text, 40) || ')', 'Pass an object');
    ELSIF octet_length((o -> 'metadata')::text) > ${BOUNDS.metadataBytes} THEN
      PERFORM jobmill.refuse('PAYLOAD_TOO_LARGE', 'metadata', 'has more than ${BOUNDS.metadataBytes} bytes', 'Put it in the payload');
    END IF;
    IF o ? 'delay' AND o ? 'runAt' THEN
      PERFORM jobmill.refuse('OPTION_CONFLICT', 'delay', 'cannot be combined with runAt', 'Pass delay or runAt, not both');
    ELSIF o ? 'dedupe' AND o ? 'dedupeKey' THEN
      PERFORM jobmill.refuse('OPTION_CONFLICT', 'dedupeKey', 'cannot be combined with dedupe', 'Pass dedupe with its key, or dedupeKey alone');
    END IF;
    IF o ? 'dedupeKey' THEN d := jsonb_build_object('key', o -> 'dedupeKey'); END IF;
    IF d IS NOT NULL THEN
      PERFORM jobmill.check_options(d, 'dedupe', ARRAY[${quoted(DEDUPE_OPTIONS)}]);
      IF coalesce(d ->> 'onConflict', 'keep') <> 'keep' THEN
        PERFORM jobmill.refuse('OPTION_INVALID', 'dedupe.onConflict', 'must be "keep" in SQL (got ' || left((d -> 'onConflict')::text, 40) || ')', 'Use the HTTP API to replace a job');
      ELSIF coalesce(d ->> 'scope', 'global') NOT IN (${quoted(DEDUPE_SCOPES)}) THEN
        PERFORM jobmill.refuse('OPTION_INVALID', 'dedupe.scope', 'must be one of ${DEDUPE_SCOPES.join(', ')} (got ' || left((d -> 'scope')::text, 40) || ')', 'Omit it for global');
      ELSIF coalesce(d ->> 'holdAfter', 'done') NOT IN (${quoted(HOLDS_AFTER)}) THEN
        PERFORM jobmill.refuse('OPTION_INVALID', 'dedupe.holdAfter', 'must be one of ${HOLDS_AFTER.join(', ')} (got ' || left((d -> 'holdAfter')::text, 40) || ')', 'Omit it for done');
      ELSIF d ->> 'holdAfter' = 'ended' AND coalesce(jobmill.option_ms(d -> 'holdFor', 'dedupe.holdFor', 0), 0) = 0 THEN
        PERFORM jobmill.refuse('OPTION_CONFLICT', 'dedupe.holdAfter', 'requires a time to hold the key', 'Pass holdFor too, such as "7d"');
      END IF;
      dedupe_name := concat_ws(' ', coalesce(d ->> 'scope', 'global'),
        CASE d ->> 'scope' WHEN 'queue' THEN queue_name WHEN 'kind' THEN kind_name END,
        jobmill.option_text(coalesce(d -> 'key', 'null'), 'dedupe.key', ${BOUNDS.keyChars}, false));
    END IF;
    rare := jsonb_strip_nulls(jsonb_build_object('due_at', jobmill.option_instant(o -> 'runAt', 'runAt'), 'delay_ms', nullif(jobmill.option_ms(o -> 'delay', 'delay', 0), 0),
      'order_key', jobmill.option_text(o -> 'orderKey', 'orderKey', ${BOUNDS.keyChars}, false), 'dedupe_key', dedupe_name,
      'group_name', jobmill.option_text(o -> 'group', 'group', ${BOUNDS.keyChars}, false),
      'hold_ms', CASE WHEN d IS NOT NULL THEN coalesce(jobmill.option_ms(d -> 'holdFor', 'dedupe.holdFor', 0), 0) END,
      'hold_after', CASE WHEN d IS NOT NULL THEN coalesce(d ->> 'holdAfter', 'done') END));
  END IF;
  IF new_id IS NULL THEN
    -- UUID version 7.
    new_id := encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send(at) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;
  END IF;
  IF defaults ? 'groupPath' AND NOT rare ? 'group_name' THEN
    group_name := jobmill.option_text(to_jsonb(jobmill.text_at(body::jsonb, defaults ->> 'groupPath')), 'group', ${BOUNDS.keyChars}, false);
    IF group_name IS NOT NULL THEN rare := rare || jsonb_build_object('group_name', group_name); END IF;
  END IF;
  IF defaults ? 'indexedPayload' THEN
    tag_list := tag_list || jobmill.index_entries(body::jsonb, defaults -> 'indexedPayload');
  END IF;
  kind_id := coalesce(kind_id, jobmill.kind_id(kind_name));
  queue_id := coalesce((SELECT q.id FROM jobmill.queue AS q WHERE q.name = queue_name), jobmill.queue_id(queue_name));
  FOR tries IN 1 .. 10 LOOP
    SELECT e.placed INTO placed FROM jobmill.enqueue(
      given_now => at, names_true => true, ids => ARRAY[new_id], queue_ids => ARRAY[queue_id], kind_ids => ARRAY[kind_id],
      priorities => ARRAY[coalesce(priority, (defaults ->> 'priority')::int4, ${DEFAULTS.priority})]::int2[],
      attempts => ARRAY[coalesce(max_attempts, (defaults ->> 'maxAttempts')::int4, ${DEFAULTS.maxAttempts})]::int2[],
      timeouts => ARRAY[timeout_ms], payloads => body,
      tag_lists => CASE WHEN tag_list <> '{}' THEN ARRAY[tag_list::text] END, metadatas => (o -> 'metadata')::text,
      rare => CASE WHEN rare <> '{}' THEN jsonb_build_array(rare || '{"n": 1}')::text END, may_repeat => coalesce(o ? 'id', false),
      for_instance => NULL, free_queues => NULL, rooms => NULL, free_kinds => NULL, range_queues => NULL, range_priorities => NULL,
      range_seqs => NULL, range_ends => NULL, tell => NULL, message => NULL, batch_from => NULL) AS e;
    -- The id existed when it took the key.
    IF placed ->> 'stray' IS NOT NULL THEN DELETE FROM jobmill.dedupe AS h WHERE h.key = dedupe_name AND h.job_id = new_id; END IF;
    IF placed ->> 'lost' IS NULL THEN RETURN new_id; END IF;
    SELECT h.job_id INTO holder FROM jobmill.dedupe AS h WHERE h.key = dedupe_name AND (h.expires_at IS NULL OR h.expires_at > at);
    IF holder IS NOT NULL THEN RETURN holder; END IF;
  END LOOP;
  RAISE EXCEPTION 'the holder of the dedupe key kept changing' USING ERRCODE = 'lock_not_available', DETAIL = 'STORE_BUSY', HINT = 'Retry the transaction.';
END $$;`

/** Null if the job is unknown. */
const STATE_OF = `
CREATE FUNCTION jobmill.state_of(job uuid) RETURNS int2 LANGUAGE sql STABLE AS $$
  SELECT coalesce((SELECT a.ended_as FROM jobmill.attempt AS a WHERE a.job_id = j.id ORDER BY a.token DESC LIMIT 1), ${STATE_CODE.running})::int2
    FROM jobmill.job AS j WHERE j.id = job
$$;`

const SEND_EVENT = `
CREATE FUNCTION jobmill.send_event(job_id uuid, event text, payload json DEFAULT 'null') RETURNS uuid
LANGUAGE plpgsql VOLATILE ${AS_OWNER} AS $$
#variable_conflict use_column
DECLARE
  state int2 := jobmill.state_of(send_event.job_id);
  body CONSTANT text := coalesce(send_event.payload, 'null')::text;
  event_name CONSTANT text := jobmill.option_text(to_jsonb(coalesce(send_event.event, '')), 'event', ${BOUNDS.stepNameChars}, false);
BEGIN
  IF octet_length(body) > ${BOUNDS.stepBytes} THEN
    PERFORM jobmill.refuse('PAYLOAD_TOO_LARGE', 'payload', 'has more than ${BOUNDS.stepBytes} bytes', 'Store it elsewhere and send a reference');
  ELSIF state IS NULL THEN
    PERFORM jobmill.refuse('JOB_UNKNOWN', 'job_id', 'no job has this id (got ' || coalesce(send_event.job_id::text, 'null') || ')', 'Check the id');
  ELSIF state >= ${STATE_CODE.done} THEN
    PERFORM jobmill.refuse('JOB_ENDED', 'job_id', 'the job has ended, so it receives no events', 'Send events only to jobs that have not ended');
  END IF;
  PERFORM body::jsonb;
  INSERT INTO jobmill.job_event (job_id, id, name, payload, sent_at)
  VALUES (send_event.job_id, gen_random_uuid(), event_name, body, floor(extract(epoch FROM clock_timestamp()) * 1000)::int8);
  INSERT INTO jobmill.wake (job_id) VALUES (send_event.job_id);
  RETURN send_event.job_id;
END $$;`

/** A job that is claimed at the same time is in none of these tables for a moment, so it looks again. */
const CANCEL = `
CREATE FUNCTION jobmill.cancel(job_id uuid, reason text DEFAULT 'cancelled by SQL') RETURNS text
LANGUAGE plpgsql VOLATILE ${AS_OWNER} AS $$
#variable_conflict use_column
DECLARE
  call CONSTANT text := jsonb_build_object('ids', jsonb_build_array(cancel.job_id), 'reason', coalesce(cancel.reason, 'cancelled by SQL'));
  changed record;
  state int2;
BEGIN
  FOR tries IN 1 .. 10 LOOP
    FOR changed IN ${CANCEL_WAITING.replace('$1::text', 'call')} LOOP RETURN 'cancelled'; END LOOP;
    PERFORM jobmill.unpack(NULL, NULL, ARRAY[cancel.job_id]);
    FOR changed IN ${REQUEST_CANCEL.replace('$1::text', 'call')} LOOP RETURN 'running'; END LOOP;
    state := jobmill.state_of(cancel.job_id);
    IF state IS NULL THEN
      PERFORM jobmill.refuse('JOB_UNKNOWN', 'job_id', 'no job has this id (got ' || coalesce(cancel.job_id::text, 'null') || ')', 'Check the id');
    END IF;
    IF state >= ${STATE_CODE.done} THEN
      RETURN CASE state WHEN ${STATE_CODE.done} THEN 'done' WHEN ${STATE_CODE.cancelled} THEN 'cancelled' ELSE 'dead' END;
    END IF;
  END LOOP;
  RAISE EXCEPTION 'job % kept changing state', cancel.job_id USING ERRCODE = 'lock_not_available', DETAIL = 'STORE_BUSY', HINT = 'Retry the transaction.';
END $$;`

/** By default, every role may execute a function. The owner of the schema grants these to producers. */
const REVOKE = ['enqueue(text, json, jsonb)', 'send_event(uuid, text, json)', 'cancel(uuid, text)']
  .map((signature) => `REVOKE EXECUTE ON FUNCTION jobmill.${signature} FROM PUBLIC;`)
  .join('\n')

export const PRODUCE = [PRODUCE_PARTS, ENQUEUE_ONE, STATE_OF, SEND_EVENT, CANCEL, REVOKE].join('\n')
