/**
 * Batches calls: those that arrive while a statement is in flight share the next one. There is no timer: an
 * idle batcher sends at once, and batches grow under load. An error affects only the calls of its statement.
 */
import { JobmillError } from '../job/errors.ts'

const MOST_ITEMS = 500

interface Call<Item, Reply> {
  readonly item: Item
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/** `send` returns one reply per item, in order. */
export function batcher<Item, Reply>(
  send: (items: readonly Item[]) => Promise<readonly Reply[]>,
): (item: Item) => Promise<Reply> {
  const waiting: Call<Item, Reply>[] = []
  let isSending = false

  async function write(batch: readonly Call<Item, Reply>[]): Promise<void> {
    try {
      const replies = await send(batch.map(({ item }) => item))
      batch.forEach(({ resolve, reject }, at) => {
        const reply = replies[at]
        if (reply === undefined)
          reject(
            new JobmillError('OUTCOME_UNKNOWN', 'the store returned no reply', {
              fix: 'Check whether the write was applied before you retry the call',
            }),
          )
        else resolve(reply)
      })
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  function pump(): void {
    if (isSending || waiting.length === 0) return
    isSending = true
    void write(waiting.splice(0, MOST_ITEMS)).finally(() => {
      isSending = false
      pump()
    })
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      pump()
    })
}
