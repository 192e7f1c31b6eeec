/** Parts of the functions for SQL clients: they check options, and find the ids of names. See produce.ts. */
import { BOUNDS } from '../../../job/defaults.ts'
import { ADD_QUEUES } from '../../queues/queue-rows.ts'

const NAME = '^[A-Za-z0-9][A-Za-z0-9._:/-]*$'
const DURATION = String.raw`^(\d+(\.\d+)?(ms|s|m|h|d))+$`
const ISO = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$`

/** The detail of the error is a code of Jobmill, and the hint says what to do. */
const REFUSE = `
CREATE FUNCTION jobmill.refuse(code text, field text, what text, fix text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%: %. %.', field, what, fix USING ERRCODE = 'invalid_parameter_value', DETAIL = code, HINT = fix;
END $$;`

/** Each returns null for an option that was not passed. */
const READ_OPTIONS = `
CREATE FUNCTION jobmill.option_text(value jsonb, field text, most int4, is_name bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  given text := value #>> '{}';
BEGIN
  IF value IS NULL THEN RETURN NULL; END IF;
  IF jsonb_typeof(value) <> 'string' OR given = '' THEN
    PERFORM jobmill.refuse('NAME_INVALID', field, 'must be a non-empty string (got ' || left(value::text, 40) || ')', 'Pass a string');
  ELSIF length(given) > most THEN
    PERFORM jobmill.refuse('NAME_INVALID', field, 'has ' || length(given) || ' characters, more than ' || most, 'Shorten it');
  ELSIF is_name AND given !~ '${NAME}' THEN
    PERFORM jobmill.refuse('NAME_INVALID', field, 'is not a valid name (got ' || left(value::text, 40) || ')', 'Use letters, digits and . _ : / -, and start with a letter or digit');
  ELSIF given ~ '[\\x01-\\x1f\\x7f]' THEN
    PERFORM jobmill.refuse('NAME_INVALID', field, 'has a control character', 'Use printable text');
  END IF;
  RETURN given;
END $$;
CREATE FUNCTION jobmill.option_whole(value jsonb, field text, least_value int4, most_value int4) RETURNS int4 LANGUAGE plpgsql AS $$
BEGIN
  IF value IS NULL THEN RETURN NULL; END IF;
  IF jsonb_typeof(value) <> 'number' OR value::numeric % 1 <> 0 OR value::numeric NOT BETWEEN least_value AND most_value THEN
    PERFORM jobmill.refuse('NUMBER_INVALID', field, 'must be a whole number (got ' || left(value::text, 40) || ')', 'Pass ' || least_value || ' to ' || most_value);
  END IF;
  RETURN value::numeric::int4;
END $$;
CREATE FUNCTION jobmill.option_ms(value jsonb, field text, least_ms int8) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
  given text := value #>> '{}';
  ms numeric;
BEGIN
  IF value IS NULL THEN RETURN NULL; END IF;
  IF jsonb_typeof(value) = 'number' THEN
    ms := given::numeric;
  ELSIF jsonb_typeof(value) = 'string' AND given ~ '${DURATION}' THEN
    SELECT sum(m[1]::numeric * CASE m[2] WHEN 'ms' THEN 1 WHEN 's' THEN 1000 WHEN 'm' THEN 60000 WHEN 'h' THEN 3600000 ELSE 86400000 END)
      INTO ms FROM regexp_matches(given, '(\\d+(?:\\.\\d+)?)(ms|s|m|h|d)', 'g') AS m;
  END IF;
  IF ms IS NULL OR ms NOT BETWEEN least_ms AND ${BOUNDS.durationMs} THEN
    PERFORM jobmill.refuse('DURATION_INVALID', field, 'must be a duration from ' || least_ms || ' ms to 3650d (got ' || left(value::text, 40) || ')',
      'Pass milliseconds, or text with the units ms, s, m, h and d, such as "90s" or "7d"');
  END IF;
  RETURN round(ms)::int8;
END $$;
CREATE FUNCTION jobmill.option_instant(value jsonb, field text) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
  given text := value #>> '{}';
  ms numeric;
BEGIN
  IF value IS NULL THEN RETURN NULL; END IF;
  IF jsonb_typeof(value) = 'number' THEN
    ms := given::numeric;
  ELSIF jsonb_typeof(value) = 'string' AND given ~ '${ISO}' THEN
    ms := extract(epoch FROM given::timestamptz) * 1000;
  END IF;
  IF ms IS NULL OR ms NOT BETWEEN 0 AND ${BOUNDS.lastInstantAt} OR ms >= 100000000 AND ms < 100000000000 THEN
    PERFORM jobmill.refuse('INSTANT_INVALID', field, 'must be an instant between 1970 and 2199 (got ' || left(value::text, 40) || ')',
      'Pass milliseconds since 1970, or text such as "2027-01-31T09:00:00Z"');
  END IF;
  RETURN round(ms)::int8;
END $$;
CREATE FUNCTION jobmill.check_options(options jsonb, field text, known text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  unknown text;
BEGIN
  IF options IS NULL OR jsonb_typeof(options) <> 'object' THEN
    PERFORM jobmill.refuse('OPTION_INVALID', field, 'must be an object (got ' || coalesce(left(options::text, 40), 'null') || ')', 'Pass {}, or {"queue": "mail"}');
  END IF;
  SELECT k INTO unknown FROM jsonb_object_keys(options) AS k WHERE k <> ALL (known) LIMIT 1;
  IF unknown IS NOT NULL THEN
    PERFORM jobmill.refuse('OPTION_UNKNOWN', field, 'unknown option "' || left(unknown, 40) || '"', 'Use one of ' || array_to_string(known, ', '));
  END IF;
END $$;`

/**
 * The id of a queue or a kind, which is created if it is new. A new name is visible to others after the
 * commit, and until then other transactions with new names wait.
 */
const NAME_IDS = `
CREATE FUNCTION jobmill.queue_id(given_name text) RETURNS int4 LANGUAGE plpgsql AS $$
DECLARE
  found_id int4;
BEGIN
  SELECT q.id INTO found_id FROM jobmill.queue AS q WHERE q.name = given_name;
  IF found_id IS NOT NULL THEN RETURN found_id; END IF;
  ${ADD_QUEUES.replace('$1::text[]', 'ARRAY[given_name]').replace(' RETURNING name', '')};
  RETURN (SELECT q.id FROM jobmill.queue AS q WHERE q.name = given_name);
END $$;
CREATE FUNCTION jobmill.kind_id(given_name text) RETURNS int4 LANGUAGE plpgsql AS $$
DECLARE
  found_id int4;
BEGIN
  SELECT k.id INTO found_id FROM jobmill.kind AS k WHERE k.name = given_name;
  IF found_id IS NOT NULL THEN RETURN found_id; END IF;
  INSERT INTO jobmill.kind (name) VALUES (given_name) ON CONFLICT (name) DO NOTHING;
  RETURN (SELECT k.id FROM jobmill.kind AS k WHERE k.name = given_name);
END $$;`

/** Index entries as in job/payload/indexed.ts. A number is written as in JavaScript. */
const INDEX_ENTRIES = `
CREATE FUNCTION jobmill.text_at(payload jsonb, path text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE jsonb_typeof(w.value) WHEN 'string' THEN w.value #>> '{}' WHEN 'boolean' THEN w.value::text
           WHEN 'number' THEN trim_scale((w.value #>> '{}')::float8::text::numeric)::text END
    FROM (SELECT payload #> string_to_array(path, '.') AS value) AS w
$$;
CREATE FUNCTION jobmill.index_entries(payload jsonb, paths jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(array_agg(chr(1) || v.path || ':' || v.text ORDER BY v.n), '{}')
    FROM (SELECT p.path, p.n, jobmill.text_at(payload, p.path) AS text
            FROM jsonb_array_elements_text(paths) WITH ORDINALITY AS p(path, n)) AS v
   WHERE length(v.text) <= ${BOUNDS.indexedChars}
$$;`

export const PRODUCE_PARTS = [REFUSE, READ_OPTIONS, NAME_IDS, INDEX_ENTRIES].join('\n')
