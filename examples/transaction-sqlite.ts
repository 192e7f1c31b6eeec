/**
 * Enqueues jobs in your own SQLite transaction: an order and its confirmation job are written atomically, and
 * so are the receipt and the completion of that job. Pass your better-sqlite3 handle on the same file.
 */
import Database from 'better-sqlite3'
import { defineJob, type JobContext, jobmill } from 'jobmill'
import { sqlite } from 'jobmill/sqlite'

const db = new Database('shop.db')
db.exec('CREATE TABLE IF NOT EXISTS shop_order (id TEXT); CREATE TABLE IF NOT EXISTS receipt (line TEXT)')
const rows = (table: string) => db.prepare(`SELECT * FROM ${table}`).all().length

const confirmOrder = defineJob({
  kind: 'order.confirm',
  backoff: { fixed: '100ms' },
  async run({ payload, attempt, complete }: JobContext<{ order: string }>) {
    const { completed } = db.transaction(() => {
      db.prepare('INSERT INTO receipt VALUES (?)').run(payload.order)
      const completed = complete(db, { receipt: payload.order })
      if (attempt === 1) throw new Error('failed after complete(tx) and before the commit')
      return { completed }
    })()
    await completed
  },
})

const mill = jobmill({ store: sqlite('shop.db'), jobs: [confirmOrder], log: 'silent' })
mill.on('retried', ({ attempt, error }) => console.log(`retry        attempt ${attempt}: ${error}`))
await mill.start()

// On SQLite the job is written when the call returns, so there is nothing to await before the commit.
// The driver refuses a transaction that returns a promise, so return it inside an object.
const place = db.transaction((order: string, isPaid: boolean) => {
  db.prepare('INSERT INTO shop_order VALUES (?)').run(order)
  const enqueued = mill.enqueue(confirmOrder, { order }, { tx: db })
  if (!isPaid) throw new Error('the card was refused')
  return { enqueued }
})

const before = { orders: rows('shop_order'), receipts: rows('receipt') }
try {
  place('unpaid', false)
} catch (error) {
  console.log(`rolled back  ${String(error)}; orders: ${rows('shop_order') - before.orders}`)
}

const job = await place('paid', true).enqueued
mill.wake() // optional: without it, workers notice the commit within a second
await job.result()
console.log(`committed    orders: ${rows('shop_order') - before.orders}`)
console.log(
  `done         the job is ${(await mill.get(job.id))?.state ?? 'gone'}, receipts: ${rows('receipt') - before.receipts}`,
)

await mill.stop()
db.close()
