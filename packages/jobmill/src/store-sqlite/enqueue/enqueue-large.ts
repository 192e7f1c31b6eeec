/**
 * Enqueues a call of many megabytes in one transaction on its own connection, in slices that yield to the
 * event loop. The writer of the store finds the file locked and waits on timers, as for any other process.
 */
import { open } from 'node:fs/promises'
import type { NewJob } from '../../job/enqueue/new-job.ts'
import type { Enqueued } from '../../store/types/replies.ts'
import { type Connection, openConnection } from '../connection/connection.ts'
import { enqueue } from './enqueue.ts'
import { commitError, storeError } from '../connection/errors.ts'
import { filePaths } from '../file/file-paths.ts'
import { statementsOf } from '../connection/handle.ts'
import { retryWhileBusy } from '../connection/retry.ts'
import type { Live, StoreSettings } from '../live.ts'
import { type Notification, Memory, workOn } from '../work.ts'

export async function enqueueLarge(
  settings: StoreSettings,
  live: Live,
  slices: readonly (readonly NewJob[])[],
): Promise<Enqueued[]> {
  const connection = openConnection(settings.path, settings.durability, { fileMustExist: true })
  try {
    // Spills pages to the log early and disables the automatic checkpoint, because the commit would copy
    // everything at once. The thread of log-size.ts copies it instead.
    connection.exec('PRAGMA cache_size = -2000; PRAGMA wal_autocheckpoint = 0')
    await retryWhileBusy(settings, () => connection.exec('BEGIN IMMEDIATE'))
    live.files.check()
    const { replies, notifications } = await writeSlices(settings, connection, slices)
    live.files.check()
    commit(live, connection)
    live.log.look()
    live.notifier.publish(notifications)
    return replies
  } catch (error) {
    throw storeError(error)
  } finally {
    // Closing rolls back an uncommitted transaction.
    connection.close()
  }
}

async function writeSlices(
  { path, clock, platform }: StoreSettings,
  connection: Connection,
  slices: readonly (readonly NewJob[])[],
): Promise<{ replies: Enqueued[]; notifications: Notification[] }> {
  const replies: Enqueued[] = []
  const notifications = new Map<string, Notification>()
  // If the log cannot be opened, the commit syncs everything.
  const log = await open(filePaths(path).log).catch(() => null)
  try {
    for (const slice of slices) {
      const worked = workOn(connection, Math.floor(clock()), new Memory(), [(work) => enqueue(work, slice)])
      for (const reply of worked.values.flat()) replies.push(reply)
      for (const notification of worked.notifications) notifications.set(notification.queue, notification)
      // Syncs on another thread, so that little is left for the commit to sync.
      await log?.datasync()
      await new Promise<void>((resolve) => platform.nextTurn(resolve))
    }
  } finally {
    await log?.close()
  }
  return { replies, notifications: [...notifications.values()] }
}

function commit({ files }: Live, connection: Connection): void {
  try {
    statementsOf(connection)('COMMIT').run()
  } catch (error) {
    throw commitError(error)
  }
  files.checkCommitted()
}
