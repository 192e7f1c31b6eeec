/**
 * Payloads with a schema: types flow to enqueue, run and result without a cast, and invalid payloads are
 * refused before anything is written. Any Standard Schema works; this uses zod.
 */
import { defineJob, isJobmillError, type JobContext, jobmill } from 'jobmill'
import { sqlite } from 'jobmill/sqlite'
import * as z from 'zod'

const sendInvoice = defineJob({
  kind: 'invoice.send',
  payload: z.object({
    to: z.email(),
    cents: z.int().positive(),
    // Stored as text; the handler gets a Date.
    dueAt: z.iso.datetime().transform((text) => new Date(text)),
    copies: z.int().default(1),
  }),
  run: async ({ payload: { to, cents, dueAt, copies } }) => ({
    line: `${to} owes ${(cents / 100).toFixed(2)} by ${dueAt.getUTCFullYear()}`,
    copies,
  }),
})

// Without a schema, the type of the payload is not checked at run time.
const countWords = defineJob({
  kind: 'words.count',
  run: ({ payload }: JobContext<{ text: string }>) => payload.text.split(' ').length,
})

const mill = jobmill({ store: sqlite(':memory:'), jobs: [sendInvoice, countWords], log: 'silent' })
await mill.start()

const invoice = { to: 'ada@example.com', cents: 1999, dueAt: '2027-01-31T09:00:00Z' }
const { line, copies } = await (await mill.enqueue(sendInvoice, invoice)).result()
console.log(`done     ${line}, copies: ${copies}`)

const words = await (await mill.enqueue(countWords, { text: 'one two three' })).result()
console.log(`done     ${words.toFixed(0)} words`)

// The compiler accepts this payload; the schema refuses it.
try {
  await mill.enqueue(sendInvoice, { ...invoice, to: 'not an address', cents: -1 })
} catch (error) {
  if (!isJobmillError(error)) throw error
  console.log(`refused  ${error.code} ${error.message}`)
}

await mill.stop()
