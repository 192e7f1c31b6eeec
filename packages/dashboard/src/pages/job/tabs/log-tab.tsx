/** The log of all attempts. It follows the newest lines while the job runs. */
import { useEffect, useRef, useState } from 'react'
import type { Job } from '../../../api/types.ts'
import { Check, Select } from '../../../kit/forms/field.tsx'
import { number, plural } from '../../../kit/text/format.ts'
import { useSearchValue } from '../../../kit/search.ts'
import { Empty } from '../../../kit/data-view.tsx'
import type { Try } from '../tries.ts'
import { isLevel, type Level, LEVELS, linesOf } from './log-lines.ts'
import { LogRow } from './log-row.tsx'

/** Lines of a long log that are shown at first. */
const PART = 500
/** Within this many pixels of the end, the log keeps following. A user who scrolls up wants to read. */
const NEAR = 24

export function LogTab({ job, tries }: { readonly job: Job; readonly tries: readonly Try[] }) {
  const [asked, choose] = useSearchValue('level')
  const least: Level = isLevel(asked) ? asked : 'debug'
  const lines = linesOf(tries, least)
  const all = tries.reduce((sum, { log }) => sum + log.length, 0)
  const [most, setMost] = useState(PART)
  const [follows, setFollows] = useState(true)
  const place = useRef<HTMLDivElement>(null)
  const isRunning = job.state === 'running'
  useEffect(() => {
    if (isRunning && follows) place.current?.scrollTo({ top: place.current.scrollHeight })
  })
  if (all === 0)
    return (
      <Empty title="No log lines">
        {tries.length === 0
          ? 'The job has not run yet.'
          : 'Call log(message, fields) in the handler. New lines appear within a second.'}
      </Empty>
    )
  const hidden = Math.max(0, lines.length - most)
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-4">
        <label className="flex items-center gap-2">
          <span className="text-soft">Minimum level</span>
          <Select value={least} onChange={({ target }) => choose(target.value)}>
            {LEVELS.map((level) => (
              <option key={level}>{level}</option>
            ))}
          </Select>
        </label>
        {isRunning && (
          <Check label="Follow" checked={follows} onChange={({ target }) => setFollows(target.checked)} />
        )}
        <span className="text-soft">
          {lines.length === all ? plural(all, 'line') : `${number(lines.length)} of ${plural(all, 'line')}`}
        </span>
      </div>
      <div
        ref={place}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          setFollows(scrollTop + clientHeight >= scrollHeight - NEAR)
        }
        role="log"
        aria-label="Log"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable, so focusable
        tabIndex={0}
        className="max-h-128 overflow-auto rounded-lg bg-sunk p-2 font-mono text-xs leading-5"
      >
        {hidden > 0 && (
          <button
            type="button"
            className="p-1 font-sans text-accent underline"
            onClick={() => setMost(most + PART)}
          >
            {plural(hidden, 'earlier line')}
          </button>
        )}
        {lines.length === 0 && (
          <p className="p-1 font-sans text-soft">No lines at this level. Choose a lower level.</p>
        )}
        {lines.slice(hidden).map(({ key, n, line }, at, shown) => (
          <LogRow key={key} n={n} line={line} isFirst={shown[at - 1]?.n !== n} />
        ))}
      </div>
    </div>
  )
}
