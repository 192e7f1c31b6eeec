// Inserts a million jobs directly into the tables of an opened store: through the store contract that would
// take minutes.
import Database from 'better-sqlite3'
import pg from 'pg'

/**
 * Deferred jobs are due in the year 2096, ready ones are ordered by number. All are in the queue `full`, of
 * the kind `known`.
 */
export async function fillPostgres(
  url: string,
  schema: string,
  jobs: number,
  state: 'scheduled' | 'ready',
): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const run = (sql: string): Promise<unknown> => client.query(sql.replaceAll('jobmill.', `${schema}.`))
  try {
    const made = `SELECT n, ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
        (SELECT id FROM jobmill.queue WHERE name = 'full') AS queue_id,
        (SELECT id FROM jobmill.kind WHERE name = 'known') AS kind_id FROM generate_series(1, ${jobs}) AS n`
    // A claim reads the job rows only of the jobs that it takes. Inserting those is enough, and all others
    // would take most of the time.
    await run(`INSERT INTO jobmill.job (id, queue_id, kind_id, priority, max_attempts, payload, enqueued_at)
      SELECT id, queue_id, kind_id, 0, 5, '1', n FROM (${made}) AS made WHERE n <= 10000`)
    if (state === 'scheduled')
      await run(`INSERT INTO jobmill.later (due_at, id, queue_id, kind_id, tries, priority, attempt, crashes, flags)
        SELECT 4000000000000 + n, id, queue_id, kind_id, 0, 0, 0, 0, 0 FROM (${made}) AS made`)
    else
      await run(`INSERT INTO jobmill.ready (queue_id, priority, seq, id, ready_at, kind_id, tries, attempt, crashes, flags)
        SELECT queue_id, 0, n, id, n, kind_id, 0, 0, 0, 0 FROM (${made}) AS made`)
    await run(`SELECT setval('jobmill.seq', ${jobs} + 1)`)
    // Do what autovacuum would do later.
    for (const table of ['job', 'later', 'ready']) await run(`VACUUM ANALYZE jobmill.${table}`)
  } finally {
    await client.end()
  }
}

export function fillSqlite(path: string, jobs: number, state: 'scheduled' | 'ready'): void {
  const database = new Database(path)
  try {
    database.pragma('synchronous = OFF')
    const isReady = state === 'ready'
    database.exec(`
      BEGIN IMMEDIATE;
      INSERT INTO jobmill_job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, crashes, in_order_queue, records,
        token, enqueued_at, due_at, ready_at, payload)
      WITH RECURSIVE made(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM made WHERE n < ${jobs})
      SELECT printf('00000000-0000-7000-8000-%012x', n), (SELECT id FROM jobmill_queue WHERE name = 'full'),
        (SELECT id FROM jobmill_kind WHERE name = 'known'), ${isReady ? 1 : 0}, 0, n, 0, 5, 0, 0, 0, 0, n,
        4000000000000 + n, ${isReady ? 'n' : 'NULL'}, '1' FROM made;
      UPDATE jobmill_counter SET value = ${jobs} + 1 WHERE name = 'seq';
      INSERT INTO jobmill_count (queue_id, state, n, wake_ups)
        VALUES ((SELECT id FROM jobmill_queue WHERE name = 'full'), ${isReady ? 1 : 0}, ${jobs}, 1)
        ON CONFLICT (queue_id, state) DO UPDATE SET n = excluded.n;
      COMMIT;`)
  } finally {
    database.close()
  }
}
