/** Line diff of two texts. */

export interface DiffLine {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** Above this number of comparisons the middle counts as replaced, so that no text can block the browser. */
const MOST_STEPS = 1_000_000

export function lineDiff(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail += 1
  return [
    ...before.slice(0, head).map(kept),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(kept),
  ]
}

const removed = (text: string): DiffLine => ({ sign: '-', text })
const added = (text: string): DiffLine => ({ sign: '+', text })
const kept = (text: string): DiffLine => ({ sign: ' ', text })

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length === 0 || after.length === 0 || before.length * after.length > MOST_STEPS)
    return [...before.map(removed), ...after.map(added)]
  const common = longestCommon(before, after)
  const width = after.length + 1
  const lines: DiffLine[] = []
  let a = 0
  let b = 0
  while (a < before.length && b < after.length) {
    const [one = '', other = ''] = [before[a], after[b]]
    if (one === other) {
      lines.push(kept(one))
      a += 1
      b += 1
    } else if ((common[(a + 1) * width + b] ?? 0) >= (common[a * width + b + 1] ?? 0)) {
      lines.push(removed(one))
      a += 1
    } else {
      lines.push(added(other))
      b += 1
    }
  }
  return [...lines, ...before.slice(a).map(removed), ...after.slice(b).map(added)]
}

/** At [a, b]: the length of the longest common subsequence of the remaining lines. */
function longestCommon(before: readonly string[], after: readonly string[]): Uint32Array {
  const width = after.length + 1
  const table = new Uint32Array((before.length + 1) * width)
  for (let a = before.length - 1; a >= 0; a -= 1)
    for (let b = after.length - 1; b >= 0; b -= 1)
      table[a * width + b] =
        before[a] === after[b]
          ? (table[(a + 1) * width + b + 1] ?? 0) + 1
          : Math.max(table[(a + 1) * width + b] ?? 0, table[a * width + b + 1] ?? 0)
  return table
}
