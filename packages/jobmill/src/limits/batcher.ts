/**
 * Calls that come while a statement is on its way share the next one. Nothing waits for a timer: when none is on its way a call is sent at once, and under
 * load the batches grow by themselves. An error is for those alone that were in the statement.
 */
import { JobmillError } from '../job/errors.ts'

const MOST_ITEMS = 500

interface Call<Item, Reply> {
  readonly item: Item
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: unknown) => void
}

/** `send` answers with one reply per item, in their order. */
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
        if (reply === undefined) reject(new JobmillError('OUTCOME_UNKNOWN', 'the store gave no answer'))
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
