/** Helpers for cases about the notifier. */
import assert from 'node:assert/strict'
import type { FullStore, WakeUp } from 'jobmill/store'
import { QUEUE } from '../../factories.ts'
import { pluck } from '../looks.ts'

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
 * Repeats the action until a notification of that many jobs is received, because a store may first deliver an
 * earlier one. `prepare` runs before the wait.
 */
export async function notifies<T = void>(
  store: FullStore,
  jobs: number | null,
  {
    queue = QUEUE,
    prepare,
    act,
  }: {
    readonly queue?: string
    readonly prepare?: () => Promise<T>
    readonly act: (prepared: T) => Promise<unknown>
  },
): Promise<void> {
  const wakeUps: WakeUp[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const prepared = (await prepare?.()) as T
    wakeUps.push(...(await wakeUpsAt([store], () => act(prepared), queue)).flat())
    const wakeUp = wakeUps.find((one) => one.jobs === jobs)
    if (wakeUp !== undefined) {
      assert.equal(wakeUp.skip, 0)
      return
    }
    // A store merges notifications while it is sending an earlier one.
    await store.notifier.wait({ queues: [queue], timeoutMs: 100 })
  }
  assert.fail(`expected a notification of ${jobs} jobs, but received ${pluck(wakeUps, 'jobs').join(', ')}`)
}

/**
 * Repeats the action until nothing is received for it, because a store may first deliver an earlier
 * notification.
 */
export async function isSilent(store: FullStore, act: () => Promise<unknown>): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const wait = store.notifier.wait({ queues: [QUEUE], timeoutMs: 100 })
    await act()
    if (!(await wait).some(({ queue }) => queue === QUEUE)) return
  }
  assert.fail('expected no notification, but every round received one')
}
