/** Checks the final state. */
import { fateOf } from './contents.ts'
import type { Size } from './run.ts'
import type { Left } from './server.ts'
import type { Place, Running } from './start-server.ts'

const DAY_MS = 86_400_000

/** After the run, only unacknowledged files are left; a day later, nothing is. */
export async function examine(server: Running, { files }: Size, { blobs }: Place): Promise<string[]> {
  const wrong: string[] = []
  const fates = Map.groupBy(
    Array.from({ length: files }, (_, n) => n),
    fateOf,
  )
  const [unread, unacked] = [fates.get('left')?.length ?? 0, fates.get('fetched')?.length ?? 0]
  const expect = (what: string, actual: number, expected: number): void => {
    if (actual !== expected) wrong.push(`${what}: ${actual}, and not ${expected}`)
  }
  const blobsOf = ({ rows, blobs: inFolder }: Left, expected: number): void => {
    if (blobs === 'postgres')
      expect('blobs in the database', Math.min(rows.uploads_chunk, expected), expected)
    else expect('blobs in the folder', inFolder, expected)
  }
  await server.sweep()
  const before = await server.left()
  expect('rows of files that wait', before.rows.uploads_file, unread + unacked)
  expect('notices of files that wait', before.rows.uploads_notice, unread + unacked)
  blobsOf(before, unread + unacked)
  server.later(DAY_MS + 60_000)
  await server.sweep()
  const after = await server.left()
  for (const [name, rows] of Object.entries(after.rows)) expect(`rows left in ${name}`, rows, 0)
  expect('blobs left in the folder', after.blobs, 0)
  expect('swept as acknowledged', after.swept.acked, files - unread - unacked)
  expect('swept as expired and fetched', after.swept.expired_fetched, unacked)
  expect('swept as expired and unfetched', after.swept.expired_unfetched, unread)
  expect('swept as orphans', after.swept.orphan_blob, 0)
  expect('errors of the server', after.errors, 0)
  return wrong
}
