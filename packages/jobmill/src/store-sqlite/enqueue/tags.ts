/** The tags of a job: in its row, and each in the index of tags. */
import { isEntry, withEntriesOf } from '../../job/payload/indexed.ts'
import type { Sql } from '../connection/handle.ts'
import { type JobRow, tagsIn } from '../job-row.ts'

// Each by primary key, under the write lock of the operation.
const ADD = `INSERT OR IGNORE INTO jobmill_tag (tag, id) VALUES (?, ?)`
const REMOVE = `DELETE FROM jobmill_tag WHERE tag = ? AND id = ?`
const TAGS = `UPDATE jobmill_job SET tags = ? WHERE pk = ?`

export function tagsText(tags: readonly string[]): string | null {
  return tags.length === 0 ? null : JSON.stringify(tags)
}

export function addTags(sql: Sql, id: string, tags: readonly string[]): void {
  for (const tag of tags) sql(ADD).run(tag, id)
}

export function removeTags(sql: Sql, id: string, tags: readonly string[]): void {
  for (const tag of tags) sql(REMOVE).run(tag, id)
}

/** Replaces the index entries of a job along with its payload. Writes nothing if there are none. */
export function replaceEntries(
  sql: Sql,
  { pk, id, tags: text }: Pick<JobRow, 'pk' | 'id' | 'tags'>,
  replacement: readonly string[],
): void {
  const before = tagsIn(text)
  if (!before.some(isEntry) && !replacement.some(isEntry)) return
  replaceTags(sql, { pk, id, tags: text }, withEntriesOf(before, replacement))
}

/** Replaces all tags of a job. */
export function replaceTags(
  sql: Sql,
  { pk, id, tags: text }: Pick<JobRow, 'pk' | 'id' | 'tags'>,
  tags: readonly string[],
): void {
  sql(TAGS).run(tagsText(tags), pk)
  removeTags(
    sql,
    id,
    tagsIn(text).filter((tag) => !tags.includes(tag)),
  )
  addTags(sql, id, tags)
}
