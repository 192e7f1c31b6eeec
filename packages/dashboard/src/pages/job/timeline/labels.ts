/** Places labels on the timeline so that they do not overlap. All values are pixels. */

export interface LabelRequest {
  readonly key: string
  /** The center of the labeled part. */
  readonly middle: number
  /** From longest to shortest; the first text that fits is used. */
  readonly texts: readonly string[]
}

export interface Label {
  readonly key: string
  readonly text: string
  readonly left: number
  readonly width: number
  /** Ends where the line ends, so that its text cannot leave the line in any font. */
  readonly isLast: boolean
}

/** The width of a character in a wide font. */
const CHAR = 7
const GAP = 8

/**
 * Places every request with its shortest text, then gives longer texts to as many as fit. Earlier requests
 * have precedence.
 */
export function placeLabels(requests: readonly LabelRequest[], width: number): readonly Label[] {
  const labels = new Map<string, Label>()
  const isFree = (wanted: Label): boolean =>
    wanted.width <= width &&
    [...labels.values()].every(
      (one) =>
        one.key === wanted.key ||
        wanted.left + wanted.width + GAP <= one.left ||
        one.left + one.width + GAP <= wanted.left,
    )
  const grant = ({ key, middle }: LabelRequest, texts: readonly string[]): void => {
    const found = texts.map((text) => labelOf(key, text, middle, width)).find(isFree)
    if (found !== undefined) labels.set(key, found)
  }
  for (const request of requests) grant(request, request.texts.slice(-1))
  for (const request of requests) if (labels.has(request.key)) grant(request, request.texts)
  return [...labels.values()]
}

function labelOf(key: string, text: string, middle: number, room: number): Label {
  const width = Math.ceil(text.length * CHAR)
  const left = Math.min(Math.max(0, middle - width / 2), room - width)
  return { key, text, left, width, isLast: left + width >= room }
}
