/**
 * Human in the loop: an expense waits until its manager approves or rejects it, and expires without an
 * answer. Uses a SQLite file, or PostgreSQL if DATABASE_URL is set.
 */
import { defineJob, jobmill } from 'jobmill'
import { postgres } from 'jobmill/postgres'
import { sqlite } from 'jobmill/sqlite'
import { z } from 'zod'

const Decision = z.object({ by: z.email(), note: z.string().optional() })

const payExpense = defineJob({
  kind: 'expense.pay',
  payload: z.object({ number: z.int(), cents: z.int(), patience: z.string() }),
  // Types and validates both ends: the wait below, and mill.sendEvent.
  events: { approved: Decision, rejected: Decision },
  async run({ payload, step }) {
    await step.run('ask the manager', () =>
      console.log(`mail     may ${payload.cents} cents be paid? /expenses/${payload.number}`),
    )
    // The job is parked: it occupies no worker, and survives restarts and deploys.
    const decision = await step.waitForEvent(['approved', 'rejected'], { timeout: payload.patience })
    if (decision === null) return { paid: false, why: 'expired' }
    const { event, payload: by } = decision
    if (event === 'rejected') return { paid: false, why: by.note ?? 'rejected' }
    await step.run('pay', () => console.log(`pay      expense ${payload.number}, approved by ${by.by}`))
    return { paid: true }
  },
})

const url = process.env['DATABASE_URL']
const store = url === undefined ? sqlite('expenses.db') : postgres(url)
const mill = jobmill({ store, jobs: [payExpense], log: 'silent' })
await mill.start()

const submit = (number: number, patience: string) =>
  mill.enqueue(payExpense, { number, cents: 4_200, patience }, { dedupeKey: `expense:${number}` })

const [good, bad, forgotten] = [await submit(1, '14d'), await submit(2, '14d'), await submit(3, '2s')]

// In the request handler of your web application. The dedupe key finds the job, and the event is kept until
// the job waits for it.
const decide = (number: number, event: 'approved' | 'rejected', decision: z.infer<typeof Decision>) =>
  mill.sendEvent(payExpense, { dedupeKey: `expense:${number}` }, event, decision)

await decide(1, 'approved', { by: 'ada@example.com' })
await decide(2, 'rejected', { by: 'ada@example.com', note: 'no receipt' })

for (const job of [good, bad, forgotten]) console.log(`done     ${JSON.stringify(await job.result())}`)
await mill.stop()
