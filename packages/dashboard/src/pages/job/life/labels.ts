/** Which labels fit on a line without touching each other, and where. In pixels. */

export interface Wish {
  readonly key: string
  /** The middle of what it is about. */
  readonly middle: number
  /** From the longest to the shortest; the first that fits is taken. */
  readonly texts: readonly string[]
}

export interface Label {
  readonly key: string
  readonly text: string
  readonly left: number
  readonly width: number
}

const CHAR = 6.6
const GAP = 8

/** Wishes that come first are granted first. */
export function placeLabels(wishes: readonly Wish[], width: number): readonly Label[] {
  const labels: Label[] = []
  for (const { key, middle, texts } of wishes) {
    for (const text of texts) {
      const own = Math.ceil(text.length * CHAR)
      if (own > width) continue
      const left = Math.min(Math.max(0, middle - own / 2), width - own)
      const isFree = labels.every((one) => left + own + GAP <= one.left || one.left + one.width + GAP <= left)
      if (!isFree) continue
      labels.push({ key, text, left, width: own })
      break
    }
  }
  return labels
}
