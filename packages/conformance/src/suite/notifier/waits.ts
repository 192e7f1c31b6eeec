/** Waiting for notifications, and ending a wait. */
import assert from 'node:assert/strict'
import { systemPlatform } from 'jobmill/store'
import { QUEUE, aJob } from '../../factories.ts'
import { type Case, test } from '../case.ts'
import { pluck } from '../looks.ts'

export const waitCases: readonly Case[] = [
  test('a notification wakes waiters for that queue', async ({ store }) => {
    const waits = store.notifier.wait({ queues: ['a', QUEUE], timeoutMs: 15_000 })
    store.notifier.notify([QUEUE])
    assert.deepEqual(pluck(await waits, 'queue', 'jobs'), [[QUEUE, null]])
  }),
  test('a new job and a notification through another handle wake waiters', async ({ store, another }) => {
    const other = await another()
    const waits = store.notifier.wait({ queues: [QUEUE], timeoutMs: 15_000 })
    let isWoken = false
    // Best effort: the waiter may not be listening yet, so notify until it is.
    const again = async (): Promise<void> => {
      if (isWoken) return
      await other.enqueue([aJob()])
      other.notifier.notify([QUEUE])
      await new Promise<void>((resolve) => void systemPlatform.timer(50, resolve))
      await again()
    }
    const notifications = again()
    assert.deepEqual(new Set((await waits).map(({ queue }) => queue)), new Set([QUEUE]))
    isWoken = true
    await notifications
  }),
  test('a wait ends with its timeout, and with its signal', async ({ store }) => {
    assert.deepEqual(await store.notifier.wait({ queues: ['quiet'], timeoutMs: 1 }), [])
    const controller = new AbortController()
    const waits = store.notifier.wait({ queues: ['quiet'], timeoutMs: 15_000, signal: controller.signal })
    controller.abort()
    assert.deepEqual(await waits, [])
    assert.deepEqual(
      await store.notifier.wait({ queues: ['quiet'], timeoutMs: 15_000, signal: controller.signal }),
      [],
    )
  }),
  test('P16 closing a store ends the waits on it', async ({ store }) => {
    // The result does not matter, as long as there is one: otherwise the test would time out.
    const waits = store.notifier.wait({ queues: ['quiet'], timeoutMs: 60_000 }).catch(() => [])
    await store.close()
    assert.ok(Array.isArray(await waits))
  }),
  test('notify never throws, even without waiters or on a closed store', async ({ store, unopened }) => {
    store.notifier.notify(['unused'])
    store.notifier.notify([])
    unopened().notifier.notify(['a'])
    await store.close()
    store.notifier.notify(['a'])
  }),
]
