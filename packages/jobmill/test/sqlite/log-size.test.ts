// The write-ahead log during and after a long read.
import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, assert, expect, test, vi } from 'vitest'
import { LOG_LIMIT_BYTES } from '../../src/store-sqlite/connection/connection.ts'
import { aClaim, aJob, anInstance, aHeartbeat } from '../../../conformance/src/factories.ts'
import { freshFile, linkTo, openStore } from './support.ts'

const readers: Database.Database[] = []
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close()
})

function readFrom(path: string): Database.Database {
  const reader = new Database(path, { readonly: true })
  readers.push(reader)
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM jobmill_job').get()
  return reader
}

test.for([
  ['opened by its path', (path: string) => path],
  ['D3 opened through a symbolic link', linkTo],
] as const)(
  'P15 a long reader makes the log grow; once it ends, an idle heartbeat truncates the log: %s',
  async ([, open]) => {
    const path = freshFile()
    // The clock is stopped, so no heartbeat is due to be written.
    const began = Date.now()
    const store = await openStore(open(path), { clock: () => began })
    const instance = anInstance()
    await store.instances.register(instance)
    const reader = readFrom(path)
    const size = (): number => statSync(`${path}-wal`).size
    const payload = 'x'.repeat(500_000)
    for (let call = 0; size() <= 2 * LOG_LIMIT_BYTES; call += 1) {
      await store.enqueue(Array.from({ length: 8 }, () => aJob({ payload })))
      assert.isBelow(call, 100)
    }
    await store.instances.renew(aHeartbeat(instance.id))
    assert.isAbove(size(), LOG_LIMIT_BYTES)
    reader.exec('COMMIT')
    await vi.waitFor(
      async () => {
        await store.instances.renew(aHeartbeat(instance.id))
        assert.isAtMost(size(), LOG_LIMIT_BYTES)
      },
      { timeout: 10_000, interval: 50 },
    )
    // The content of the log is in the file, and work continues.
    const [lease] = await store.claim(aClaim(instance.id, { limit: 1 }))
    assert.equal(lease?.payload, JSON.stringify(payload))
    expect(await store.counts()).toMatchObject([{ running: 1 }])
  },
)

test('a closed store leaves a large log to other connections', async () => {
  const path = freshFile()
  const [store, neighbour] = [await openStore(path), await openStore(path)]
  const instance = anInstance()
  await store.instances.register(instance)
  const reader = readFrom(path)
  const payload = 'x'.repeat(1_000_000)
  for (let call = 0; call < 4; call += 1)
    await store.enqueue(Array.from({ length: 8 }, () => aJob({ payload })))
  assert.isAbove(statSync(`${path}-wal`).size, LOG_LIMIT_BYTES)
  await store.instances.renew(aHeartbeat(instance.id))
  await store.close()
  reader.exec('COMMIT')
  expect(await neighbour.counts()).toMatchObject([{ ready: 32 }])
})
