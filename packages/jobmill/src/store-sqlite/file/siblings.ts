/**
 * The guarded connections of this process, by database file. The connections of one process share the old
 * -shm file: after the logs were deleted, none of them can open the new ones until all are closed. So a
 * connection that reopens asks the others to close theirs, because an idle one would not notice the change.
 */
import { filePaths } from './file-paths.ts'

/** Closes the files if their log has changed and no transaction is open. Must not throw. */
type Release = () => void

const open = new Map<string, Set<Release>>()

/** Returns the function that removes the entry. */
export function addSibling(path: string, release: Release): () => void {
  if (path === ':memory:') return () => {}
  const { database } = filePaths(path)
  const all = open.get(database) ?? new Set()
  open.set(database, all.add(release))
  return () => {
    all.delete(release)
    if (all.size === 0 && open.get(database) === all) open.delete(database)
  }
}

export function releaseSiblings(path: string): void {
  for (const release of open.get(filePaths(path).database) ?? []) release()
}
