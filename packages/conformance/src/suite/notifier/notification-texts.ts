/** Helpers for cases about the notifier. */
import assert from 'node:assert/strict'
import type { FullStore, WakeUp } from 'jobmill/store'
import { QUEUE } from '../../factories.ts'

/** The number of tries: notifications are best effort. */
export const ROUNDS = 20

/** Waits at each of these stores, runs an action, and returns what each received for the queue. */
export async function wakeUpsAt(
  stores: readonly FullStore[],
  act: () => Promise<unknown>,
  queue: string,
): Promise<WakeUp[][]> {
  const waits = stores.map((store) => store.notifier.wait({ queues: [queue], timeoutMs: 2_000 }))
  await act()
  const received = await Promise.all(waits)
  return received.map((wakeUps) => wakeUps.filter((wakeUp) => wakeUp.queue === queue))
}

/**
 * Repeats the action until the expected notification is received, because a store may first deliver an
 * earlier one. `prepare` runs before the wait.
 */
export async function notifications<T = void>(
  store: FullStore,
  { prepare, act }: { readonly prepare?: () => Promise<T>; readonly act: (made: T) => Promise<unknown> },
  jobs: number | null,
  queue: string = QUEUE,
): Promise<void> {
  const wakeUps: WakeUp[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const made = (await prepare?.()) as T
    wakeUps.push(...(await wakeUpsAt([store], () => act(made), queue)).flat())
    const wakeUp = wakeUps.find((one) => one.jobs === jobs)
    if (wakeUp !== undefined) {
      assert.equal(wakeUp.skip, 0)
      return
    }
    // A store merges notifications while it is sending an earlier one.
    await store.notifier.wait({ queues: [queue], timeoutMs: 100 })
  }
  assert.fail(`never notified of ${jobs} jobs, but of ${wakeUps.map((one) => one.jobs).join(', ')}`)
}

/**
 * Repeats the action until nothing is received for it, because a store may first deliver an earlier
 * notification.
 */
export async function isSilent(
  store: FullStore,
  act: () => Promise<unknown>,
  queue: string = QUEUE,
): Promise<void> {
  const received: WakeUp[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const wait = store.notifier.wait({ queues: [queue], timeoutMs: 100 })
    await act()
    const wakeUps = (await wait).filter((wakeUp) => wakeUp.queue === queue)
    if (wakeUps.length === 0) return
    received.push(...wakeUps)
  }
  assert.fail(`always notified of ${received.map((one) => one.jobs).join(', ')} jobs`)
}
