/**
 * An operator removes or changes rows of the tables of queues and kinds. Jobs refer to them by id, and must
 * never run under another name.
 */
import { describe, expect, test } from 'vitest'
import { ON_CANCELLED_QUEUE, onCancelledKind } from '../../src/job/attempt/on-cancelled.ts'
import { storedKind } from '../../src/job/kind/kind-name.ts'
import type { Diagnostic } from '../../src/store/admin/admin.ts'
import type { ToolStore } from '../../src/store/store.ts'
import { aClaim, aJob, anInstance, aRetain } from '../../../conformance/src/factories.ts'
import { ALL, postgresSite } from './sites.ts'

const YOUNG = { kind: 'young', queue: 'mail' }
const WIPE = { kind: 'wipe', queue: 'danger' }

describe.each(ALL)('D2 the tables of names in $name', (sites) => {
  test.each([
    'DELETE FROM TABLE:kind',
    'DELETE FROM TABLE:queue',
    `UPDATE TABLE:kind SET name = 'other'`,
    'UPDATE TABLE:queue SET id = id + 100',
    ...(sites.name === 'postgres' ? ['TRUNCATE TABLE:kind', 'TRUNCATE TABLE:queue, TABLE:kind'] : []),
  ])('D2 %s is refused while jobs exist, and allowed without them', async (statement) => {
    const { store, run } = sites.empty()
    await store.open()
    const job = aJob(YOUNG)
    await store.enqueue([job])
    await expect(run(statement)).rejects.toThrow(/jobs refer to the rows of .*(kind|queue)/)
    expect(await store.get([job.id])).toMatchObject([YOUNG])
    await run('DELETE FROM TABLE:job')
    await run(statement)
  })
})

const TRUNCATE = `BEGIN; SET LOCAL session_replication_role = replica;
  TRUNCATE TABLE:kind, TABLE:queue, TABLE:names RESTART IDENTITY; COMMIT`

async function names(store: ToolStore<never>): Promise<Diagnostic | undefined> {
  return (await store.tools.diagnose()).find(({ check }) => check === 'names')
}

/** The next warning with this code. */
function warning(code: string): Promise<Error> {
  return new Promise((resolve) => {
    const look = (error: Error & { code?: string }): void => {
      if (error.code !== code) return
      process.off('warning', look)
      resolve(error)
    }
    process.on('warning', look)
  })
}

describe('D2 the tables of names in postgres are emptied with triggers off', () => {
  test('D2 P1 new names get other ids, so no claim takes the earlier jobs', async () => {
    const { store, run } = postgresSite()
    await store.open()
    const young = aJob(YOUNG)
    await store.enqueue([young])
    await store.close()
    await run(TRUNCATE)

    await store.open()
    const instance = anInstance({ kinds: [WIPE.kind], queues: [WIPE.queue] })
    await store.instances.register(instance)
    const wipe = aJob(WIPE)
    await store.enqueue([wipe])
    const request = { queues: [{ queue: WIPE.queue, room: 9 }], kinds: [WIPE.kind] }
    const leases = await store.claim(aClaim(instance.id, request))
    expect(leases.map(({ id }) => id)).toEqual([wipe.id])
    const [unnamed] = await store.get([young.id])
    expect(unnamed?.state).toBe('ready')
    expect(unnamed?.kind).toMatch(/^\(deleted kind \d+\)$/)
    expect(unnamed?.queue).toMatch(/^\(deleted queue \d+\)$/)
  })

  test('D2 the doctor and retention report jobs without names', async () => {
    const { store, run } = postgresSite()
    await store.open()
    await store.enqueue([aJob(YOUNG), aJob({ ...WIPE, delay: '1h' })])
    await store.close()
    expect(await names(store)).toMatchObject({ level: 'ok' })
    await run(TRUNCATE)
    const reported = /kind \(ids \d+, \d+\) and queue \(ids \d+, \d+\)/
    expect(await names(store)).toMatchObject({
      level: 'error',
      message: expect.stringMatching(reported) as string,
      fix: expect.stringContaining('Restore these rows') as string,
    })
    await store.open()
    const warned = warning('JOBS_WITHOUT_NAMES')
    await store.retain(aRetain())
    expect((await warned).message).toMatch(reported)
  })

  test('D2 P1 retention restores rows that this process remembers, and does not report their jobs', async () => {
    const { store, run } = postgresSite()
    await store.open()
    const young = aJob(YOUNG)
    await store.enqueue([young])
    await run(`BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM TABLE:kind; COMMIT`)
    const warned: string[] = []
    const note = (error: Error & { code?: string }): void => void warned.push(error.code ?? '')
    process.on('warning', note)
    const restored = warning('KINDS_RESTORED')
    await store.retain(aRetain())
    await restored
    process.off('warning', note)
    expect(warned).toEqual(['KINDS_RESTORED'])
    expect(await store.get([young.id])).toMatchObject([YOUNG])
  })

  test('P3 a restored kind keeps the follow-ups of its cancels', async () => {
    const { store, run } = postgresSite()
    await store.open()
    const [order, follower] = [storedKind({ kind: 'order', minVersion: 1 }), onCancelledKind('order')]
    const kinds = ['order', order, 'other', follower]
    await store.instances.register(
      anInstance({ kinds, queues: [ON_CANCELLED_QUEUE], onCancelled: ['order'] }),
    )
    const jobs = ['order', order, 'other'].map((kind) => ({ ...aJob(), kind }))
    await store.enqueue(jobs)
    await run(`BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM TABLE:kind; COMMIT`)
    const restored = warning('KINDS_RESTORED')
    await store.retain(aRetain())
    await restored
    await store.cancel(
      jobs.map(({ id }) => id),
      'stop',
    )
    await store.stage(10)
    const { jobs: found } = await store.list({ queue: ON_CANCELLED_QUEUE }, { limit: 10 })
    expect(found.map(({ kind }) => kind)).toEqual([follower, follower])
  })
})
