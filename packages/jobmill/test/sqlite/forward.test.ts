// A file of an earlier release is brought forward when it is opened, and what was in it goes on.
import { assert, describe, expect, test } from 'vitest'
import { openConnection } from '../../src/store-sqlite/connection.ts'
import { migrate, MIGRATIONS } from '../../src/store-sqlite/migrate.ts'
import { aJob, anInstance, aPulse, aTake, QUEUE } from '../../src/testing/factories.ts'
import { freshFile, openStore } from './support.ts'

const [job, instance] = [aJob(), anInstance()]

/** One running job with an attempt behind it, as the first release wrote them. */
const ROWS = `
  INSERT INTO jobmill_queue (name, paused, backoff_enabled, backoff_base_ms, backoff_max_ms) VALUES ('default', 0, 1, 1, 1);
  INSERT INTO jobmill_kind (name) VALUES ('work');
  INSERT INTO jobmill_instance (id, queues, kinds, capacity, state, started_at, renewed_at, expires_at)
  VALUES ('${instance.id}', '["default"]', '["work"]', 1, 0, 0, 0, 4000000000000);
  INSERT INTO jobmill_job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, crashes, in_line, records, token,
    instance_pk, enqueued_at, due_at, ready_at, started_at, hold_ms, payload)
  VALUES ('${job.id}', 1, 1, 2, 0, 1, 2, 5, 0, 0, 1, 7, 1, 0, 0, 0, 0, 0, '1');
  INSERT INTO jobmill_attempt (job_pk, token, attempt, outcome, ended_at) VALUES (1, 6, 1, 1, 0);
  INSERT INTO jobmill_count (queue_id, state, n, rung) VALUES (1, 2, 1, 0)`

/** Of releases before the indexes lost the id at their end: processes of theirs that have the file open go on sending these. */
const EARLIER = [
  `SELECT id FROM jobmill_job INDEXED BY jobmill_job_running WHERE state = 2 AND instance_pk = 1 ORDER BY started_at, id`,
  `SELECT id FROM jobmill_job INDEXED BY jobmill_job_running
   WHERE state = 2 AND instance_pk = 1 AND (started_at, id) > (0, '') ORDER BY started_at, id LIMIT 9`,
  `SELECT id FROM jobmill_job INDEXED BY jobmill_job_ended
   WHERE queue_id = 1 AND state >= 3 AND state = 3 AND (ended_at, id) < (2, '~') ORDER BY ended_at DESC, id DESC LIMIT 9`,
  `SELECT id FROM jobmill_job INDEXED BY jobmill_job_ended
   WHERE queue_id = 1 AND state >= 3 AND state = 3 AND ended_at <= 2 AND (ended_at, id) > (0, '') ORDER BY ended_at, id LIMIT 9`,
]

describe('sqlite migrations, forward', () => {
  test('P16 what a process of an earlier release asks of the file is answered as before', () => {
    const connection = openConnection(freshFile(), 'full')
    const seen = (): unknown[] => EARLIER.map((text) => connection.prepare(text).all())
    migrate(connection, 0, MIGRATIONS.slice(0, 3))
    connection.exec(ROWS)
    for (const [id, state] of ['c', 'a', 'b'].flatMap((name) => [
      [`${name}2`, 2],
      [`${name}3`, 3],
    ])) {
      connection.exec(`
        INSERT INTO jobmill_job (id, queue_id, kind_id, state, priority, seq, attempt, max_attempts, crashes, in_line, records,
          token, instance_pk, enqueued_at, due_at, started_at, ended_at, hold_ms, payload)
        VALUES ('${id}', 1, 1, ${state}, 0, 1, 1, 5, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, '1')`)
    }
    const before = seen()
    assert.deepEqual(before[2], [{ id: 'c3' }, { id: 'b3' }, { id: 'a3' }])
    migrate(connection, 0)
    assert.deepEqual(seen(), before)
    connection.close()
  })

  test('P3 a file of the first release is brought forward with what is in it, and its work goes on', async () => {
    const path = freshFile()
    const connection = openConnection(path, 'full')
    migrate(connection, 0, MIGRATIONS.slice(0, 1))
    connection.exec(ROWS)
    const store = await openStore(path)
    const applied = connection.prepare('SELECT number FROM jobmill_migration ORDER BY number').all()
    assert.deepEqual(
      applied,
      MIGRATIONS.map(({ number }) => ({ number })),
    )
    connection.close()
    expect(await store.instances()).toMatchObject([{ id: instance.id, onDead: [], state: 'alive' }])
    expect(await store.get([job.id])).toMatchObject([{ state: 'running', log: null }])
    expect(await store.queues()).toMatchObject([{ name: QUEUE, keepDone: null, limit: null }])
    const lease = { id: job.id, token: 7 }
    assert.deepEqual(await store.progress([{ ...lease, log: 'after' }]), [true])
    // What was running before takes part in what is new, and leaves nothing of it behind.
    await store.declareLimits([{ name: 'few', settings: { type: 'concurrency', most: 1 } }])
    await store.changeQueue(QUEUE, { settings: { limit: 'few' }, coolMs: null })
    const take = aTake('few', { holder: job.id, token: 7, instance: instance.id })
    expect(await store.take([take])).toEqual([{ outcome: 'granted', waitMs: 0 }])
    const duties = [{ name: 'schedule', succeededAgoMs: null, failures: 0 }]
    expect(await store.renew(aPulse(instance.id, { duties }))).toMatchObject({
      leads: ['schedule'],
      slots: [],
    })
    await store.finish([{ ...lease, outcome: 'returned', transition: { to: 'done', result: null } }])
    expect(await store.limits()).toMatchObject([{ name: 'few', held: 0 }])
    assert.deepEqual(
      (await store.history(job.id)).map(({ log }) => log),
      [null, 'after'],
    )
  })
})
