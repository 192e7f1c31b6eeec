/**
 * A process that goes the whole way of files, and dies at one point of it: kill -9 by itself, when the point is met for the n-th time. It says what it was answered,
 * as it was answered, so that whoever looks at what is left knows what was promised.
 */
import { writeSync } from 'node:fs'
import { openTables } from 'jobmill-tables'
import { directoryBlobs, postgresBlobs, type Schema, STEPS, uploads } from 'jobmill-uploads'
import { CONTENTS, KEY, NOBODYS, type Told } from './way-of-files.ts'

/** Without a folder the database has the bytes. */
const [address = '', folder = '', point = '', mailbox = '', token = ''] = process.argv.slice(2)
const HOUR_MS = 3_600_000

let aheadMs = 0
const { tables } = await openTables<Schema>(address, {
  app: 'uploads',
  steps: STEPS,
  clock: () => Date.now() + aheadMs,
})
const blobs = folder === '' ? postgresBlobs(tables) : directoryBlobs(folder)
const inbox = uploads({
  tables,
  blobs,
  ackRetention: 0,
  fault(at) {
    if (at === point) process.kill(process.pid, 'SIGKILL')
  },
})
await inbox.start()

/** At once, and not when the event loop gets to it. */
const tell = (told: Told): void => void writeSync(1, `${JSON.stringify(told)}\n`)

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(init.headers as Record<string, string> | undefined),
  }
  const response = await inbox.fetch(
    new Request(`http://here/mailboxes/${mailbox}${path}`, { ...init, headers }),
  )
  if (response === null) throw new Error('not its own')
  return response
}

function upload(contents: readonly string[], key: string): Promise<Response> {
  const form = new FormData()
  for (const content of contents) form.append('files', new Blob([content]), 'a.bin')
  return ask('/uploads', { method: 'POST', body: form, headers: { 'idempotency-key': key } })
}

// One that is refused once it has written something, one that is not, and one that never ends.
await upload(['x', ''], 'refused')
const { files } = (await (await upload(CONTENTS, KEY)).json()) as { files: { id: string }[] }
tell({ uploaded: files.map(({ id }) => id) })
const [first] = files
const fetched = await (await ask(`/uploads/${first?.id}/content`)).text()
if (fetched !== CONTENTS[0]) throw new Error('that is another file')
tell({ fetched: first?.id ?? '' })
await ask(`/uploads/${first?.id}/ack`, { method: 'POST' })
tell({ acked: first?.id ?? '' })
const orphan = '00000000-0000-7000-8000-0000000000ff'
await tables.db
  .insertInto('uploads_staging')
  .values({ upload: orphan, mailbox, begun_at: tables.now, swept_at: null })
  .execute()
// And one that no row knows.
for (const upload of [orphan, NOBODYS]) {
  const bytes = (async function* () {
    yield new Uint8Array(10)
  })()
  await blobs.write(`${upload}/0`, bytes, new AbortController().signal)
}
aheadMs = HOUR_MS + 1
await inbox.sweep()
tell({ swept: true })
await inbox.stop()
await tables.close()
