/** What the Errors page says about the number of groups and of scanned jobs, and which group is open. */
import type { Range } from '../../api/range.ts'
import type { Errors } from '../../api/types.ts'
import { number, plural } from '../../kit/text/format.ts'

export interface ErrorSearch {
  readonly queue: string
  readonly kind: string
  readonly text: string
  readonly sort: string
  /** Null: of all time. */
  readonly range: Range | null
}

const ORDERS: Readonly<Record<string, string>> = {
  jobs: 'largest',
  lastAt: 'latest',
  firstAt: 'newest',
}

/** `12 error groups, 340 jobs`, or `The 200 largest of 312 error groups, 550 jobs`. */
export function groupsTitle({ groups, total }: Pick<Errors, 'groups' | 'total'>, sort: string): string {
  const jobs = plural(
    groups.reduce((sum, { dead, failing }) => sum + dead + failing, 0),
    'job',
  )
  if (total === groups.length) return `${plural(total, 'error group')}, ${jobs}`
  return `The ${groups.length} ${ORDERS[sort] ?? 'first'} of ${number(total)} error groups, ${jobs}`
}

/** A folded group has several keys, and more of them once more errors are similar. */
export function isSameGroup(
  { fingerprint }: { readonly fingerprint: string },
  opened: string | null,
): boolean {
  const keys = fingerprint.split(',')
  return opened !== null && opened.split(',').some((key) => keys.includes(key))
}

/** How to narrow the list down, unless both a queue and a kind are chosen. */
export function scanNote({ queue, kind }: Pick<ErrorSearch, 'queue' | 'kind'>): string {
  if (queue !== '' && kind !== '') return ''
  const left = queue === '' && kind === '' ? 'a queue or a kind' : queue === '' ? 'a queue' : 'a kind'
  return ` Choose ${left} to narrow it down.`
}
