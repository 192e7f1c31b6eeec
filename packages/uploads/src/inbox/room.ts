/** What has to be written when the disk is full too: how files go away. It comes to its room by giving up the reserve. */
import type { Tables } from 'jobmill-tables'
import type { BlobStore } from '../blobs/blob-store.ts'
import { isFullDatabase } from '../fault-codes.ts'
import { Refusal } from '../refusal.ts'

export interface Room {
  /** Again, when the database had no room and there was something to give up. */
  readonly forced: <T>(act: () => Promise<T>) => Promise<T>
  readonly makeWay: () => Promise<void>
  /** Keeps the reserve, or gets it back; false when there is no room for it. */
  readonly keep: () => Promise<boolean>
  /** Nothing comes in while there is no room in reserve. */
  readonly mustBeKept: () => Promise<void>
  /** Whether there was anything to give up. */
  readonly giveUpFor: (error: unknown) => Promise<boolean>
}

/** Only a SQLite file can be on the disk of the blobs and know it. */
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
        detail: 'the disk has no room in reserve',
        fix: 'Make room, or send it again when files were acknowledged and swept',
        retryAfter: 60,
      })
    },
    giveUpFor,
  }
}
