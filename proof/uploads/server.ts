/**
 * The inbox under load in a child process, configured like `jobmill-uploads start`. Its parent triggers
 * checks and moves its clock.
 */
import { readdirSync } from 'node:fs'
import { jobmill } from 'jobmill'
import { servePublic } from 'jobmill-server'
import { openTables } from 'jobmill-tables'
import { directoryBlobs, postgresBlobs, type Schema, STEPS, type SweptCounts, uploads } from 'jobmill-uploads'
import { keepSmall } from '../../packages/uploads/src/cli/keep-small.ts'

/** A request of the parent. `later`: how far the clock moves forward. */
export type Question = { readonly later: number } | { readonly ask: 'sweep' | 'left' }

export interface Ready {
  readonly url: string
  readonly mailboxes: readonly { readonly id: string; readonly token: string }[]
}

export interface Left {
  readonly rows: Readonly<Record<(typeof TABLES)[number], number>>
  readonly blobs: number
  /** Since the start of the process. */
  readonly swept: SweptCounts
  readonly errors: number
}

const TABLES = [
  'uploads_file',
  'uploads_notice',
  'uploads_upload',
  'uploads_staging',
  'uploads_chunk',
] as const

const { DATABASE_URL = '', BLOBS = '', MAILBOXES = '0' } = process.env
keepSmall()
let aheadMs = 0
let errors = 0
const database = await openTables<Schema>(DATABASE_URL, {
  app: 'uploads',
  steps: STEPS,
  connections: 10,
  clock: () => Date.now() + aheadMs,
})
const { tables } = database
const inbox = uploads({
  tables,
  blobs: BLOBS === 'postgres' ? postgresBlobs(tables) : directoryBlobs(BLOBS),
  // The next pass deletes acknowledged files, and passes are frequent.
  ackRetention: 0,
  sweepEvery: '1s',
  onError(error, what) {
    errors += 1
    console.error(`  error ${what}: ${String(error)}`)
  },
})
const mill = jobmill({ store: database.store, serve: ['uploads'], duties: [inbox.duty], log: 'error' })
await inbox.start(mill)
const served = await servePublic(mill, { port: 0, routes: inbox.fetch })
await mill.start()

const mailboxes: { id: string; token: string }[] = []
for (let n = 0; n < Number(MAILBOXES); n += 1) {
  const { id } = await inbox.mailboxes.add({ name: `mailbox ${n}` })
  mailboxes.push({ id, token: (await inbox.tokens.add(id)).token })
}

async function left(): Promise<Left> {
  const rows = await Promise.all(
    TABLES.map(async (name) => {
      const { n } = await tables.db
        .selectFrom(name)
        .select((select) => select.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      return [name, n] as const
    }),
  )
  const files = BLOBS === 'postgres' ? [] : readdirSync(BLOBS, { recursive: true, withFileTypes: true })
  return {
    rows: Object.fromEntries(rows) as Left['rows'],
    // Including temporary files, without the marker of the folder.
    blobs: files.filter((entry) => entry.isFile() && !entry.name.startsWith('.')).length,
    swept: inbox.swept(),
    errors,
  }
}

process.on('message', (question: Question) => {
  if ('later' in question) aheadMs += question.later
  else if (question.ask === 'sweep') void inbox.sweep().then(() => process.send?.('swept'))
  else void left().then((rest) => process.send?.(rest))
})
process.once('SIGTERM', () => {
  void (async () => {
    await inbox.stop()
    await served.close()
    await mill.stop()
    await tables.close()
    process.exit(0)
  })()
})
process.send?.({ url: served.url, mailboxes } satisfies Ready)
