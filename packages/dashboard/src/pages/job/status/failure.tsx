/** An error at a glance: its message, its root cause and where it was thrown. */
import type { LogLine } from '../../../api/types.ts'
import { Fact, Facts } from '../../../kit/card.tsx'
import { errorParts, placeOf } from '../tabs/error-parts.ts'

interface Props {
  readonly error: string | null
  readonly log: readonly LogLine[]
}

/** The class of an error, with its colon. */
const CLASS = /^[A-Z][\w$.]*:(?= )/

export function Failure({ error, log }: Props) {
  if (error === null) return <p className="font-medium">No error recorded</p>
  const [first, ...causes] = errorParts(error)
  const title = first?.title ?? ''
  const name = CLASS.exec(title)?.[0] ?? ''
  const root = causes.at(-1)
  const place = placeOf(log)
  return (
    <>
      <p className="line-clamp-3 leading-snug font-medium break-words" title={title}>
        <span className="text-dead">{name}</span>
        {title.slice(name.length)}
      </p>
      {(root !== undefined || place !== null) && (
        <div className="mt-2">
          <Facts>
            {root !== undefined && (
              <Fact name="Root cause">
                <span className="line-clamp-2" title={root.title}>
                  {root.title}
                </span>
              </Fact>
            )}
            {place !== null && (
              <Fact name="Thrown in">
                <code className="font-mono text-xs wrap-anywhere">{place}</code>
              </Fact>
            )}
          </Facts>
        </div>
      )}
    </>
  )
}
