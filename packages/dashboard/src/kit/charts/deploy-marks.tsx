/** Vertical marks in a chart where a version of the application was first seen. */
import { createPortal } from 'react-dom'
import { useVersions } from '../../api/reads.ts'
import { instant } from '../text/format.ts'
import { marksIn } from './marks.ts'

/** More labels would cover the lines. */
const MOST_LABELS = 6
const LABEL_ROWS = 3

interface Props {
  /** The element over the plotting area, which the chart creates. */
  readonly over: HTMLElement | null
  readonly times: readonly number[]
}

export function DeployMarks({ over, times }: Props) {
  const marks = marksIn(useVersions().data?.versions ?? [], times)
  if (marks.length === 0) return null
  const drawn = marks.map(({ version, at, share }, n) => (
    <span
      key={version}
      title={says(version, at)}
      className="absolute inset-y-0 w-px bg-accent/70"
      style={{ left: `${share * 100}%` }}
    >
      {n < MOST_LABELS && (
        <span
          className="absolute rounded bg-card px-0.5 text-[10px] leading-3 whitespace-nowrap text-accent"
          style={{ top: (n % LABEL_ROWS) * 12, ...(share > 0.5 ? { right: 2 } : { left: 2 }) }}
        >
          {version}
        </span>
      )}
    </span>
  ))
  return (
    <>
      {over !== null && createPortal(drawn, over)}
      <ul aria-label="Deploys" className="sr-only">
        {marks.map(({ version, at }) => (
          <li key={version}>{says(version, at)}</li>
        ))}
      </ul>
    </>
  )
}

const says = (version: string, at: number): string => `${version} first seen ${instant(at)}`
