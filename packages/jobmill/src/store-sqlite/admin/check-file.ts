/** Whether the file is sound, and how much of it is air. */
import { shortened, sizeText } from '../../store/amounts.ts'
import { type Diagnostic, broken, warning, well } from '../../store/admin.ts'
import { prepared, type SqliteHandle } from '../handle.ts'

/** Every page is read, with the event loop standing still: about a second for this much. */
const CHECKED_BYTES = 512 * 2 ** 20
const TOLD_FAULTS = 5

/** More air than this, and more of it than anything else, is worth a rewrite of the file. */
const FREE_BYTES = 16 * 2 ** 20
const FREE_SHARE = 0.5

export function integrity(handle: SqliteHandle): Diagnostic {
  const { all } = sizesOf(handle)
  if (all > CHECKED_BYTES) {
    const command = 'PRAGMA quick_check'
    return well('integrity', `not looked at, with ${sizeText(all)}: run ${command} yourself when it is quiet`)
  }
  const rows = prepared(handle)(`PRAGMA quick_check(${TOLD_FAULTS})`).all() as { quick_check: string }[]
  const faults = rows.map(({ quick_check: text }) => text).filter((text) => text !== 'ok')
  if (faults.length === 0) return well('integrity', `all ${sizeText(all)} are sound`)
  return broken(
    'integrity',
    `the file is damaged: ${shortened(faults.join('; '), 200)}`,
    'Stop all programs that use it, keep a copy, and restore a backup or run sqlite3 with .recover',
  )
}

export function freePages(handle: SqliteHandle): Diagnostic {
  const { all, free } = sizesOf(handle)
  const told = `${sizeText(free)} of ${sizeText(all)} are free`
  if (free < FREE_BYTES || free < all * FREE_SHARE) return well('free space', told)
  return warning(
    'free space',
    `${told}: the file was larger once, and does not shrink by itself`,
    'Run VACUUM while no process works, with as much room on the disk; new jobs use the space too',
  )
}

export function sizesOf(handle: SqliteHandle): { all: number; free: number } {
  const sql = prepared(handle)
  const { page_size: size } = sql('PRAGMA page_size').get() as { page_size: number }
  const { page_count: pages } = sql('PRAGMA page_count').get() as { page_count: number }
  const { freelist_count: free } = sql('PRAGMA freelist_count').get() as { freelist_count: number }
  return { all: pages * size, free: free * size }
}
