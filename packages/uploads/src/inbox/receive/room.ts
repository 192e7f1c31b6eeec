/** Lets deletions write on a full disk, by giving up the reserve. */
import type { Tables } from 'jobmill-tables'
import type { BlobStore } from '../../blobs/blob-store.ts'
import { isFullDatabase } from '../../fault-codes.ts'
import { Refusal } from '../../refusal.ts'

export interface Room {
  /** Retries the action after giving up the reserve, if the database was full. */
  readonly forced: <T>(act: () => Promise<T>) => Promise<T>
  readonly makeWay: () => Promise<void>
  /** Keeps or restores the reserve. Returns false if there is no space for it. */
  readonly keep: () => Promise<boolean>
  /** Refuses uploads while the reserve is missing. */
  readonly mustBeKept: () => Promise<void>
  /** Returns whether there was a reserve to give up. */
  readonly giveUpFor: (error: unknown) => Promise<boolean>
}

/** Only SQLite uses the reserve, because its file may be on the same disk as the blobs. */
export function roomOf(tables: Pick<Tables<never>, 'type'>, { reserve }: BlobStore): Room {
  const own = tables.type === 'sqlite' ? reserve : undefined
  const giveUpFor = async (error: unknown): Promise<boolean> =>
    own !== undefined && isFullDatabase(error) && (await own.giveUp())
  const keep = async (): Promise<boolean> => own === undefined || own.keep()
  return {
    async forced(act) {
      try {
        return await act()
      } catch (error) {
        if (!(await giveUpFor(error))) throw error
        return act()
      }
    },
    makeWay: async () => own?.makeWay(),
    keep,
    async mustBeKept() {
      if (await keep()) return
      throw new Refusal('DISK_FULL', {
        detail: 'the disk is almost full',
        fix: 'Free some space, or try again when files are acknowledged and swept',
        retryAfter: 60,
      })
    },
    giveUpFor,
  }
}
