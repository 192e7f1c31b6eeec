/** The Tab key in an editor: inserts two spaces, or indents every selected line by two. */

export interface Marked {
  readonly text: string
  readonly start: number
  readonly end: number
}

const STEP = '  '

export function indent({ text, start, end }: Marked, isBack: boolean): Marked {
  if (start === end && !isBack)
    return { text: text.slice(0, start) + STEP + text.slice(end), start: start + 2, end: start + 2 }
  const from = text.lastIndexOf('\n', start - 1) + 1
  const lines = text.slice(from, end).split('\n')
  const moved = lines.map((line) => (isBack ? line.replace(/^ {1,2}/, '') : STEP + line))
  const firstBy = (moved[0]?.length ?? 0) - (lines[0]?.length ?? 0)
  const block = moved.join('\n')
  return {
    text: text.slice(0, from) + block + text.slice(end),
    start: Math.max(from, start + firstBy),
    end: Math.max(from, from + block.length),
  }
}
