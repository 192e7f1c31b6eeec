/** Short words for what most cases about the doorbell do. */
import assert from 'node:assert/strict'
import type { Rung } from '../../store/rung.ts'
import type { Store } from '../../store/store.ts'
import { QUEUE } from '../factories.ts'

/** How often something is tried: the doorbell is best effort. */
export const ROUNDS = 20

/** Waits at each of these stores, lets something happen, and tells what each heard of the queue. */
export async function heardAt(
  stores: readonly Store[],
  act: () => Promise<unknown>,
  queue: string,
): Promise<Rung[][]> {
  const waits = stores.map((store) => store.wait({ queues: [queue], timeoutMs: 2_000 }))
  await act()
  const heard = await Promise.all(waits)
  return heard.map((rungs) => rungs.filter((rung) => rung.queue === queue))
}

/**
 * Lets it happen until it is heard as it should be: a store may also have to tell of something that was before. `prepare`
 * makes what it happens to, before anybody waits.
 */
export async function rings<T = void>(
  store: Store,
  { prepare, act }: { readonly prepare?: () => Promise<T>; readonly act: (made: T) => Promise<unknown> },
  jobs: number | null,
  queue: string = QUEUE,
): Promise<void> {
  const heard: Rung[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const made = (await prepare?.()) as T
    heard.push(...(await heardAt([store], () => act(made), queue)).flat())
    const rung = heard.find((one) => one.jobs === jobs)
    if (rung === undefined) continue
    assert.equal(rung.skip, 0)
    return
  }
  assert.fail(`never heard of ${jobs} jobs, but of ${heard.map((one) => one.jobs).join(', ')}`)
}

/** Lets it happen until nothing is heard of it: a store may also have to tell of something that was before. */
export async function isSilent(
  store: Store,
  act: () => Promise<unknown>,
  queue: string = QUEUE,
): Promise<void> {
  const heard: Rung[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const wait = store.wait({ queues: [queue], timeoutMs: 100 })
    await act()
    const rungs = (await wait).filter((rung) => rung.queue === queue)
    if (rungs.length === 0) return
    heard.push(...rungs)
  }
  assert.fail(`always heard of ${heard.map((one) => one.jobs).join(', ')} jobs`)
}
