/** How far a search is: jobs scanned, matches, and a button to stop it or to continue. */
import { Search as SearchIcon, Square } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../../kit/button.tsx'
import { number, plural } from '../../../kit/text/format.ts'
import type { SearchStatus } from './search.ts'
import type { Searching } from './use-search.ts'

interface Props {
  readonly searching: Searching
  /** Jobs scanned, including earlier pages. */
  readonly scanned: number
  /** About how many there are; null if unknown. */
  readonly total: number | null
  readonly matches: number
  /** Offered while the search runs, such as an indexed filter. */
  readonly children?: ReactNode
}

export function SearchBar({ searching, scanned, total, matches, children }: Props) {
  const { status, search, stop, proceed, restart } = searching
  if (status === 'none') return null
  const isRunning = status === 'running'
  return (
    <div className="flex flex-col gap-2 border-b border-line px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        {/* Announced when the search ends, not with each step. */}
        <p role="status" aria-live={isRunning ? 'off' : 'polite'} className="grow tabular-nums">
          {status === 'failed' && (
            <span className="text-dead">Search stopped: {search.problem?.message}. </span>
          )}
          {textOf(status, scanned, total)}{' '}
          <span className="text-soft">{plural(matches, 'match', 'matches')}</span>
        </p>
        {isRunning && (
          <Button icon={Square} onClick={stop}>
            Stop
          </Button>
        )}
        {(status === 'stopped' || status === 'failed') && (
          <Button look="main" icon={SearchIcon} onClick={proceed}>
            Keep searching
          </Button>
        )}
        {status === 'done' && <Button onClick={restart}>Search again</Button>}
      </div>
      {status !== 'done' && total !== null && total > 0 && <Bar scanned={scanned} total={total} />}
      {children}
    </div>
  )
}

function textOf(status: SearchStatus, scanned: number, total: number | null): string {
  if (status === 'done') return `Searched all ${plural(scanned, 'job')}.`
  if (total === null || total < scanned) return `Searched ${plural(scanned, 'job')}.`
  return `Searched ${number(scanned)} of about ${plural(total, 'job')}.`
}

function Bar({ scanned, total }: { readonly scanned: number; readonly total: number }) {
  const share = Math.min(1, scanned / total)
  return (
    <div
      role="progressbar"
      aria-label="Search"
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      className="h-1.5 overflow-hidden rounded-full bg-sunk"
    >
      <div className="h-full rounded-full bg-accent" style={{ width: `${share * 100}%` }} />
    </div>
  )
}
