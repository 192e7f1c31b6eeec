/** Checks the integrity of the file, and how much of it is free space. */
import { shorten, sizeText } from '../../store/admin/amounts.ts'
import { type Diagnostic, broken, warning, ok } from '../../store/admin/admin.ts'
import { statementsOf, type SqliteHandle } from '../connection/handle.ts'

/** The check reads every page and blocks the event loop: about a second for this size. */
const CHECKED_BYTES = 512 * 2 ** 20
const MOST_FAULTS = 5

/** VACUUM is worthwhile if at least this much, and at least this share of the file, is free. */
const FREE_BYTES = 16 * 2 ** 20
const FREE_SHARE = 0.5

export function integrity(handle: SqliteHandle): Diagnostic {
  const { all } = sizesOf(handle)
  if (all > CHECKED_BYTES) {
    const command = 'PRAGMA quick_check'
    return ok('integrity', `not checked (${sizeText(all)}): run ${command} at a quiet time`)
  }
  const rows = statementsOf(handle)(`PRAGMA quick_check(${MOST_FAULTS})`).all() as { quick_check: string }[]
  const faults = rows.map(({ quick_check: text }) => text).filter((text) => text !== 'ok')
  if (faults.length === 0) return ok('integrity', `no damage found in ${sizeText(all)}`)
  return broken(
    'integrity',
    `the file is damaged: ${shorten(faults.join('; '), 200)}`,
    'Stop all programs that use it, keep a copy, then restore a backup or run .recover in sqlite3',
  )
}

export function freePages(handle: SqliteHandle): Diagnostic {
  const { all, free } = sizesOf(handle)
  const text = `${sizeText(free)} of ${sizeText(all)} are free`
  if (free < FREE_BYTES || free < all * FREE_SHARE) return ok('free space', text)
  return warning(
    'free space',
    `${text}: the file was larger once and does not shrink on its own`,
    'Run VACUUM while no process uses the file; it needs up to twice the size of the file on disk. New jobs also reuse the space',
  )
}

export function sizesOf(handle: SqliteHandle): { all: number; free: number } {
  const sql = statementsOf(handle)
  const { page_size: size } = sql('PRAGMA page_size').get() as { page_size: number }
  const { page_count: pages } = sql('PRAGMA page_count').get() as { page_count: number }
  const { freelist_count: free } = sql('PRAGMA freelist_count').get() as { freelist_count: number }
  return { all: pages * size, free: free * size }
}
