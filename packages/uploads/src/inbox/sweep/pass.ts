/** What the parts of a pass of the sweep share. */
import type { Inside } from '../inside.ts'
import { MOST_FILES } from '../limits.ts'
import type { SweptOutcome } from './sweep-counter.ts'

export interface Pass {
  readonly inside: Inside
  readonly signal: AbortSignal
  readonly count: (outcome: SweptOutcome, n: number) => void
  /** Returns false if the action failed. The pass then continues, and rejects at its end. */
  readonly attempt: (act: () => Promise<unknown>) => Promise<boolean>
}

/** The number of blobs is not recorded; deleting a missing blob is cheap. */
export async function deleteBlobs({ inside, count }: Pass, upload: string): Promise<void> {
  let deleted = 0
  for (let n = 0; n < MOST_FILES; n += 1) if (await inside.blobs.delete(`${upload}/${n}`)) deleted += 1
  count('orphan_blob', deleted)
}
