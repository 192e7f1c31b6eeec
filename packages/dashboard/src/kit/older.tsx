/** The way through a list that comes newest first, a page at a time. */
import { Button } from './button.tsx'

interface Props {
  /** Of the page that is shown; undefined for the first. */
  readonly cursor: string | undefined
  readonly next: string | null
  readonly go: (cursor: string | undefined) => void
}

export function Older({ cursor, next, go }: Props) {
  return (
    <div className="flex gap-2">
      {cursor !== undefined && <Button onClick={() => go(undefined)}>Newest</Button>}
      {next !== null && <Button onClick={() => go(next)}>Older</Button>}
    </div>
  )
}
