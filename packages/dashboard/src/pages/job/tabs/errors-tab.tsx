/** The error of each attempt, newest first, with causes and stack. */
import { useState } from 'react'
import { Button } from '../../../kit/button.tsx'
import { CopyButton } from '../../../kit/text/copy.tsx'
import { plural } from '../../../kit/text/format.ts'
import { Empty } from '../../../kit/data-view.tsx'
import { OutcomeBadge } from '../../../kit/state.tsx'
import { Ago } from '../../../kit/text/time.tsx'
import type { Try } from '../tries.ts'
import { type ErrorPart, errorParts, stackOf } from './error-parts.ts'

/** Errors shown at first. */
const PART = 5

export function ErrorsTab({ tries }: { readonly tries: readonly Try[] }) {
  const [most, setMost] = useState(PART)
  if (tries.length === 0) return <Empty title="No errors">Errors from failed attempts appear here.</Empty>
  const newest = tries.toReversed()
  return (
    <div className="flex flex-col gap-4">
      {newest.slice(0, most).map((one) => (
        <OneError key={one.n} one={one} />
      ))}
      {newest.length > most && (
        <Button className="self-start" onClick={() => setMost(newest.length)}>
          Show {plural(newest.length - most, 'earlier error')}
        </Button>
      )}
    </div>
  )
}

function OneError({ one }: { readonly one: Try }) {
  const error = one.error ?? ''
  const stack = stackOf(one.log)
  const [first, ...causes] = errorParts(error)
  return (
    <article aria-label={`Error of attempt #${one.n}`} className="min-w-0 rounded-lg border border-line">
      <header className="flex flex-wrap items-center gap-x-3 border-b border-line bg-sunk px-3">
        <h3 className="font-medium">Attempt #{one.n}</h3>
        {one.outcome !== 'running' && <OutcomeBadge outcome={one.outcome} />}
        <span className="text-soft">
          <Ago at={one.endedAt} />
        </span>
        <span className="ml-auto">
          <CopyButton
            text={stack === null ? error : `${error}\n\n${stack}`}
            what={`the error of attempt #${one.n}`}
          />
        </span>
      </header>
      <div className="flex flex-col gap-2 p-3">
        {first !== undefined && <Part part={first} />}
        {causes.length > 0 && (
          <ol aria-label="Causes" className="flex flex-col gap-2">
            {causes.map((part, at) => (
              // oxlint-disable-next-line react/no-array-index-key -- the same text may come twice
              <li key={at} className="border-l-2 border-dead pl-3">
                <p className="text-xs text-soft">{at === causes.length - 1 ? 'root cause' : 'caused by'}</p>
                <Part part={part} />
              </li>
            ))}
          </ol>
        )}
        {stack !== null && (
          <details>
            <summary className="text-soft">Stack</summary>
            <pre className="mt-1 overflow-x-auto rounded bg-sunk p-2 font-mono text-xs leading-5">
              {stack}
            </pre>
          </details>
        )}
      </div>
    </article>
  )
}

function Part({ part: { title, rest } }: { readonly part: ErrorPart }) {
  return (
    <div className="min-w-0">
      <p className="font-medium break-words text-dead">{title}</p>
      {rest !== '' && (
        <pre className="overflow-x-auto font-mono text-xs leading-5 whitespace-pre-wrap">{rest}</pre>
      )}
    </div>
  )
}
