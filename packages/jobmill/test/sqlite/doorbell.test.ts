// Wake-ups on one file: by this process, by another connection, and none where none is due.
import { assert, describe, test } from 'vitest'
import { aClaim, aJob, anInstance, KIND, QUEUE } from '../../src/testing/factories.ts'
import { freshFile, openStore } from './support.ts'

describe('the doorbell of sqlite', () => {
  test('wakes at once for a commit of this process', async () => {
    const store = await openStore()
    const woken = store.wait({ queues: ['default'], timeoutMs: 5_000 })
    await store.enqueue([aJob()])
    assert.isTrue(await woken)
  })

  test('wakes for what follows a death', async () => {
    let now = 0
    const store = await openStore(freshFile(), { clock: () => now })
    const instance = anInstance({ onDead: [KIND] })
    await store.register(instance)
    await store.enqueue([aJob()])
    const [lease] = await store.claim(aClaim(instance.id))
    assert.isDefined(lease)
    now = 3_600_000
    const woken = store.wait({ queues: [QUEUE], timeoutMs: 5_000 })
    await store.reap({ crashesUntilDead: 1, limit: 1 })
    assert.isTrue(await woken)
  })

  test('does not wake for another queue, and ends with its time', async () => {
    const path = freshFile()
    const store = await openStore(path)
    const neighbour = await openStore(path)
    const woken = store.wait({ queues: ['other'], timeoutMs: 60 })
    await neighbour.enqueue([aJob()])
    assert.isFalse(await woken)
  })

  test('what came between an empty claim and the wait is not missed', async () => {
    const path = freshFile()
    const store = await openStore(path)
    const neighbour = await openStore(path)
    await neighbour.enqueue([aJob()])
    assert.isTrue(await store.wait({ queues: ['default'], timeoutMs: 5_000 }))
    assert.isFalse(await store.wait({ queues: ['default'], timeoutMs: 30 }))
  })

  test('ends with its signal and with the store', async () => {
    const store = await openStore()
    const stop = new AbortController()
    const waits = [
      store.wait({ queues: ['default'], timeoutMs: 5_000, signal: stop.signal }),
      store.wait({ queues: ['default'], timeoutMs: 5_000 }),
    ]
    stop.abort()
    assert.isFalse(await waits[0])
    await store.close()
    assert.isFalse(await waits[1])
  })
})
