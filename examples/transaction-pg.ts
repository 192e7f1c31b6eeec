/**
 * Enqueues jobs in your own pg transaction: an order and its confirmation job are written atomically, and so
 * are the receipt and the completion of that job. Needs DATABASE_URL.
 */
import { defineJob, type JobContext, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import pg from 'pg'

const url = process.env['DATABASE_URL']
if (url === undefined) {
  console.error('Set DATABASE_URL, for example to postgres://postgres@localhost:5432/postgres')
  process.exit(1)
}

const pool = new pg.Pool({ connectionString: url })
await pool.query('CREATE TABLE IF NOT EXISTS example_order (id text PRIMARY KEY)')
await pool.query('CREATE TABLE IF NOT EXISTS example_receipt (order_id text PRIMARY KEY)')

async function transaction<T>(work: (tx: pg.PoolClient) => Promise<T>): Promise<T> {
  const tx = await pool.connect()
  try {
    await tx.query('BEGIN')
    const result = await work(tx)
    await tx.query('COMMIT')
    return result
  } catch (error) {
    await tx.query('ROLLBACK')
    throw error
  } finally {
    tx.release()
  }
}

const confirmOrder = defineJob({
  kind: 'order.confirm',
  backoff: { fixed: '100ms' },
  run: ({ payload, attempt, complete }: JobContext<{ order: string }>) =>
    transaction(async (tx) => {
      await tx.query('INSERT INTO example_receipt VALUES ($1)', [payload.order])
      await complete(tx, { receipt: payload.order })
      if (attempt === 1) throw new Error('failed after complete(tx) and before the commit')
    }),
})

const mill = jobmill({ store: postgres(url), jobs: [confirmOrder], log: 'silent' })
mill.on('retried', ({ attempt, error }) => console.log(`retry        attempt ${attempt}: ${error}`))
await mill.start()

// Rolled back: neither the order nor the job exists.
let refused = ''
await transaction(async (tx) => {
  await tx.query('INSERT INTO example_order VALUES ($1)', [`unpaid-${Date.now()}`])
  refused = (await mill.enqueue(confirmOrder, { order: 'unpaid' }, { tx })).id
  throw new Error('the card was refused')
}).catch((error: unknown) => console.log(`rolled back  ${String(error)}`))
console.log(`not stored   the job is ${JSON.stringify(await mill.get(refused))}`)

// Committed: both exist, and the job runs.
const order = `paid-${Date.now()}`
const job = await transaction(async (tx) => {
  await tx.query('INSERT INTO example_order VALUES ($1)', [order])
  return mill.enqueue(confirmOrder, { order }, { tx })
})
mill.wake() // optional: without it, workers notice the commit within about 100 ms
await job.result()
const { rows } = await pool.query('SELECT order_id FROM example_receipt WHERE order_id = $1', [order])
console.log(`committed    the job is ${(await mill.get(job.id))?.state ?? 'gone'}, receipts: ${rows.length}`)

await mill.stop()
await pool.end()
