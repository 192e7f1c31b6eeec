/**
 * `npm run start:uploads`: runs an inbox, uploads a folder of files, and pulls them with a client. Exits with
 * 1 if anything is wrong.
 */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { jobmill } from 'jobmill'
import { servePublic } from 'jobmill-server'
import { openTables } from 'jobmill-tables'
import { directoryBlobs, type Schema, STEPS, uploads } from 'jobmill-uploads'
import { pullOnce, upload } from 'jobmill-uploads/client'
import { progressBar } from '../src/cli/progress-bar.ts'
import { sampleFiles } from './sample-files.ts'

const HOUR_MS = 3_600_000
const folder = mkdtempSync(join(tmpdir(), 'jobmill-uploads-'))
/** Remove the temporary folder on Ctrl+C too. */
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    rmSync(folder, { recursive: true, force: true })
    process.exit(130)
  })
let aheadMs = 0
let isOk = true

function expectThat(what: string, isSo: boolean): void {
  isOk &&= isSo
  if (!isSo) console.log(`  !! failed: ${what}`)
}

const { store, tables } = await openTables<Schema>(join(folder, 'uploads.db'), {
  app: 'uploads',
  steps: STEPS,
  clock: () => Date.now() + aheadMs,
})
const inbox = uploads({ tables, blobs: directoryBlobs(join(folder, 'blobs')) })
const mill = jobmill({ store, serve: ['uploads'], log: 'silent' })
await inbox.start(mill)
const { url, close } = await servePublic(mill, { port: 0, routes: inbox.fetch })
const mailbox = await inbox.mailboxes.add({ name: 'the laptop of Ada' })
const { token } = await inbox.tokens.add(mailbox.id)
const line = { url, mailbox: mailbox.id, token }
console.log(`The inbox listens at ${url} and stores everything in ${folder}.`)
console.log(`Mailbox ${mailbox.id} belongs to a laptop behind NAT, which no server can call.\n`)

const samples = sampleFiles(join(folder, 'samples'))
const totalBytes = samples.reduce((sum, { size }) => sum + size, 0)
console.log(`Uploading ${samples.length} files, ${(totalBytes / 1e6).toFixed(1)} MB:`)
const bar = progressBar({
  isTTY: process.stdout.isTTY,
  columns: process.stdout.columns,
  write: (text) => process.stdout.write(text),
})
const sentAt = performance.now()
const sent = await upload({
  ...line,
  files: samples,
  onProgress: ({ sentBytes, path }) => bar.show(sentBytes, totalBytes, basename(path)),
})
bar.end()
const took = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`
console.log(`  ${'█'.repeat(30)} 100%  in ${took(sentAt)}; one atomic request\n`)

console.log('The laptop lists the files, fetches four at a time, verifies, stores and acknowledges them:')
const pulledAt = performance.now()
const { files, isComplete } = await pullOnce({ ...line, folder: join(folder, 'pulled') })
console.log(`  ${files.length} files in ${took(pulledAt)}\n`)
expectThat('everything was pulled', isComplete && files.length === samples.length)

console.log(
  `  ${'sent as'.padEnd(28)} ${'stored as'.padEnd(42)} ${'bytes'.padStart(10)}  sha-256 sent   on disk`,
)
for (const [n, sample] of samples.entries()) {
  const file = files.find(({ uri }) => uri === sent[n]?.uri)
  const bytes = file === undefined ? Buffer.alloc(0) : readFileSync(file.path)
  const actual = createHash('sha256').update(bytes).digest('hex')
  const isEqual = actual === sample.sha256 && bytes.length === sample.size
  expectThat(`${sample.name} is unchanged`, isEqual)
  expectThat('only its owner may read it', file !== undefined && (statSync(file.path).mode & 0o777) === 0o600)
  const name = file === undefined ? '(missing)' : `…${file.id.slice(-6)}-${file.name}`
  console.log(
    `  ${short(sample.name, 28)} ${short(name, 42)} ${String(sample.size).padStart(10)}  ${sample.sha256.slice(0, 12)} ${isEqual ? '=' : '≠'} ${actual.slice(0, 12)}`,
  )
}

console.log('\nOne more file is uploaded and never fetched. A sweep an hour later, and one a day later:')
await upload({ ...line, files: samples.slice(0, 1) })
aheadMs = HOUR_MS + 1_000
const { acked } = await inbox.sweep()
aheadMs = 25 * HOUR_MS
const { expired_unfetched: unfetched } = await inbox.sweep()
console.log(`  acknowledged, deleted  ${acked}`)
console.log(`  expired, not fetched   ${unfetched}`)
expectThat('the sweep deleted the acknowledged files', acked === samples.length)
expectThat('the sweep deleted the file that was never fetched', unfetched === 1)
const rows = await tables.db.selectFrom('uploads_file').select('id').execute()
expectThat('nothing is left in the inbox', rows.length === 0)

console.log('\nMetrics:')
for (const text of (await mill.prometheus()).split('\n').filter((one) => one.startsWith('jobmill_uploads_')))
  console.log(`  ${text}`)
await inbox.stop()
await close()
await mill.stop()
await tables.close()
rmSync(folder, { recursive: true, force: true })
console.log(isOk ? '\nAll checks passed.' : '\nSome checks failed: see the lines with !!')
process.exit(isOk ? 0 : 1)

function short(text: string, width: number): string {
  return (text.length > width ? `${text.slice(0, width - 1)}…` : text).padEnd(width)
}
