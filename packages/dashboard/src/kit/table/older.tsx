/** Paging for a list that is sorted newest first. */
import { Button } from '../button.tsx'

interface Props {
  /** Cursor of the current page; undefined for the first. */
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
