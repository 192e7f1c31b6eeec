/** Lets deletions write on a full disk, by deleting the reserve. */
import type { Tables } from 'jobmill-tables'
import type { BlobStore } from '../../blobs/blob-store.ts'
import { isFullDatabase } from '../../fault-codes.ts'
import { Refusal } from '../../refusal.ts'

export type Room = ReturnType<typeof roomOf>

/** Only SQLite uses the reserve, because its file may be on the same disk as the blobs. */
export function roomOf(tables: Pick<Tables<never>, 'type'>, { reserve }: BlobStore) {
  const own = tables.type === 'sqlite' ? reserve : undefined
  /** Returns whether there was a reserve to delete. */
  const giveUpFor = async (error: unknown): Promise<boolean> =>
    own !== undefined && isFullDatabase(error) && (await own.giveUp())
  /** Keeps or restores the reserve. Returns false if there is no space for it. */
  const keep = async (): Promise<boolean> => own === undefined || own.keep()
  return {
    /** If the database was full, deletes the reserve and retries the action. */
    async forced<T>(act: () => Promise<T>): Promise<T> {
      try {
        return await act()
      } catch (error) {
        if (!(await giveUpFor(error))) throw error
        return act()
      }
    },
    makeWay: async (): Promise<void> => own?.makeWay(),
    keep,
    /** Refuses uploads while the reserve is missing. */
    async mustBeKept(): Promise<void> {
      if (await keep()) return
      throw new Refusal('DISK_FULL', {
        detail: 'the disk is almost full',
        fix: 'Free some space, or try again when acknowledged files have been deleted',
        retryAfter: 60,
      })
    },
    giveUpFor,
  }
}
