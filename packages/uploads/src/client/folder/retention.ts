/**
 * Deletes files whose retention is over: first the file, then its index entry, so that no file is left
 * without an entry.
 */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { textOf } from '../http/client-error.ts'
import type { FileIndex } from './file-index.ts'
import type { Settings } from '../options.ts'
import { sleep } from '../time.ts'
import { troubleOf } from '../trouble.ts'

const HOUR_MS = 3_600_000
const LEAST_MS = 1_000
/** An earlier time means that the clock is not set, as on a device without a battery. */
const SET_FROM = Date.UTC(2025, 0, 1)

/**
 * Runs one pass and returns the number of deleted files. Touches only indexed files, and follows no links.
 */
export async function clean(settings: Settings, known: FileIndex): Promise<number> {
  const { folder, keepForMs, clock, fault, onTrouble } = settings
  let gone = 0
  for (const entry of known.all()) {
    const { uri, file, doneAt } = entry
    if (doneAt === null || clock() - doneAt < keepForMs) continue
    try {
      if (doneAt < SET_FROM && clock() >= SET_FROM) {
        // The age is unknown, so the retention restarts.
        await known.note({ ...entry, doneAt: clock() })
        continue
      }
      await rm(path.join(folder, file), { force: true })
      await fault('clean:file')
      await known.drop(uri)
      await fault('clean:entry')
      gone += 1
    } catch (error) {
      // The next pass retries.
      onTrouble(
        troubleOf('WRITE_FAILED', `${file} cannot be deleted: ${textOf(error)}`, { uri, cause: error }),
      )
    }
  }
  return gone
}

/** Runs until the signal fires. */
export async function keepClean(settings: Settings, known: FileIndex, signal: AbortSignal): Promise<void> {
  if (settings.keepForMs === Infinity) return
  while (!signal.aborted) {
    await clean(settings, known)
    await sleep(Math.max(LEAST_MS, Math.min(HOUR_MS, settings.keepForMs)), signal)
  }
}
