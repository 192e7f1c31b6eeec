/** Folds long identical parts of a diff, so that the differences stand out. */
import type { DiffLine } from './line-diff.ts'

interface Fold {
  /** How many identical lines it replaces. */
  readonly folded: number
}

/** Lines that stay before and after each difference. */
const CONTEXT = 3
/** A shorter part stays. */
const LEAST_FOLDED = 4

export function foldDiff(lines: readonly DiffLine[], isWhole: boolean): readonly (DiffLine | Fold)[] {
  if (isWhole) return lines
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ sign }) => sign !== ' '),
  )
  const parts: (DiffLine | Fold)[] = []
  let at = 0
  while (at < lines.length) {
    const next = isNear.indexOf(isNear[at] !== true, at)
    const part = lines.slice(at, next === -1 ? lines.length : next)
    if (isNear[at] !== true && part.length >= LEAST_FOLDED) parts.push({ folded: part.length })
    else parts.push(...part)
    at += part.length
  }
  return parts
}
