/**
 * A saga: an order in three steps with different services. If the order fails permanently, `onDead` undoes
 * its steps, newest first. Uses a SQLite file, or PostgreSQL if DATABASE_URL is set.
 */
import { Dead, defineJob, type JobContext, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'

const SAGA = [
  { name: 'reserve stock', run: reserveStock, undo: releaseStock },
  { name: 'charge card', run: chargeCard, undo: refund },
  { name: 'ship', run: ship, undo: cancelShipment },
]

const placeOrder = defineJob({
  kind: 'order.place',
  async run({ payload, step }: JobContext<Order>) {
    for (const { name, run } of SAGA)
      await step.run(name, ({ idempotencyKey }) => run(payload, idempotencyKey))
    return { shipped: payload.item }
  },
  // Runs as a separate job with its own retries. A retry skips each undo that is already recorded.
  async onDead({ dead, steps, step }) {
    // The failed step may have taken effect, so undo it too.
    for (const { name, undo } of SAGA.slice(0, steps.length + 1).toReversed())
      await step.run(`undo ${name}`, () => undo(`${dead.id}:${name}`))
  },
})

const url = process.env['DATABASE_URL']
const store = url === undefined ? sqlite('saga.db') : postgres(url)
const mill = jobmill({ store, jobs: [placeOrder], log: 'silent' })
await mill.start()
const undone = new Promise((resolve) =>
  mill.on('finished', ({ kind }) => kind === 'order.place:dead' && resolve(kind)),
)

const lamp = await mill.enqueue(placeOrder, { item: 'lamp', cents: 2_900 })
console.log(`done     ${JSON.stringify(await lamp.result())}`)
const piano = await mill.enqueue(placeOrder, { item: 'piano', cents: 390_000 })
await piano.result().catch((error: unknown) => console.log(`failed   ${String(error)}`))
await undone
await mill.stop()

interface Order {
  readonly item: string
  readonly cents: number
}

function reserveStock({ item }: Order) {
  console.log(`reserve  a ${item}`)
}

function chargeCard({ cents }: Order, idempotencyKey: string) {
  console.log(`charge   ${cents / 100} EUR`)
  return { payment: idempotencyKey }
}

function ship({ item }: Order) {
  if (item === 'piano') throw new Dead('a piano is too heavy')
  console.log(`ship     a ${item}`)
}

/** The services find what to undo by the idempotency key of the step, and ignore an unknown key. */
function releaseStock(idempotencyKey: string) {
  console.log(`undo     reservation ${idempotencyKey}`)
}

function refund(idempotencyKey: string) {
  console.log(`undo     payment ${idempotencyKey}`)
}

function cancelShipment(idempotencyKey: string) {
  console.log(`undo     shipment ${idempotencyKey}`)
}
