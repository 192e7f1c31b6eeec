/**
 * A process that runs the whole path of files and kills itself at a fault point, when it is reached for the
 * n-th time. It prints every response immediately, so that the test knows what was acknowledged.
 */
import { writeSync } from 'node:fs'
import { openTables } from 'jobmill-tables'
import { directoryBlobs, postgresBlobs, type Schema, STEPS, uploads } from 'jobmill-uploads'
import { CONTENTS, KEY, NOBODYS, type StepReport } from './way-of-files.ts'

/** Without a folder, the database holds the bytes. */
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

/** Synchronously, because the process may be killed before the event loop continues. */
const tell = (report: StepReport): void => void writeSync(1, `${JSON.stringify(report)}\n`)

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

// One upload that is refused after writing, one that succeeds, and one that never ends.
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
// And one without any row.
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
