/** Queues and kinds. */
export const QUEUES = `
CREATE TABLE jobmill_queue (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  workers INTEGER,
  paused INTEGER NOT NULL,
  backoff_enabled INTEGER NOT NULL,
  backoff_base_ms INTEGER NOT NULL,
  backoff_max_ms INTEGER NOT NULL,
  retain_done_ms INTEGER,
  retain_cancelled_ms INTEGER,
  retain_dead_ms INTEGER,
  cool_until INTEGER NOT NULL DEFAULT 0,
  throttles INTEGER NOT NULL DEFAULT 0,
  keep_done INTEGER,
  keep_cancelled INTEGER,
  keep_dead INTEGER,
  limit_id INTEGER,
  target_latency_ms INTEGER,
  group_fair INTEGER NOT NULL DEFAULT 0,
  group_concurrency INTEGER,
  group_rate INTEGER,
  group_rate_per_ms INTEGER,
  code TEXT,                        -- JSON: the options that code names; NULL when code does not declare it
  overrides TEXT NOT NULL DEFAULT '{}' -- JSON: { option: { value, by, at } }
) STRICT;
CREATE INDEX jobmill_queue_limit ON jobmill_queue (limit_id) WHERE limit_id IS NOT NULL;

CREATE TABLE jobmill_kind (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- whether a follow-up job runs when a job of this kind is cancelled
  on_cancelled INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A store caches the ids of queues and kinds until this number changes. It is random, because an older copy may
-- overwrite the file.
${['queue', 'kind']
  .flatMap((table) =>
    ['INSERT', 'DELETE', 'UPDATE OF id, name'].map(
      (change) => `
CREATE TRIGGER jobmill_${table}_${change.slice(0, 6).toLowerCase()} AFTER ${change} ON jobmill_${table} BEGIN
  UPDATE jobmill_counter SET value = random() & 9007199254740991 WHERE name = 'names';
END;`,
    ),
  )
  .join('')}

-- Jobs refer to these rows by id. After such a change they would run under another name, or not at all.
${['queue', 'kind']
  .flatMap((table) =>
    ['DELETE', 'UPDATE OF id, name'].map((change) => {
      const verb = change.slice(0, 6)
      return `
CREATE TRIGGER jobmill_${table}_${verb.toLowerCase()}_refused BEFORE ${change} ON jobmill_${table}
WHEN EXISTS (SELECT 1 FROM jobmill_job) BEGIN
  SELECT RAISE(ABORT, '${verb} refused: jobs refer to the rows of jobmill_${table}. Delete the jobs first.');
END;`
    }),
  )
  .join('')}
`
