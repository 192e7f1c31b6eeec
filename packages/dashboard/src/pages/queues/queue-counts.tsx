/** The numbers of jobs of a queue by state, as links to them. */
import type { Counts, State } from '../../api/types.ts'
import { encodeName } from '../../api/client.ts'
import { TextLink } from '../../kit/button.tsx'
import { classes } from '../../kit/classes.ts'
import { compact, number, plural } from '../../kit/text/format.ts'

const COLOURS: Readonly<Partial<Record<State, string>>> = { dead: 'text-dead', running: 'text-running' }

interface Props {
  readonly counts: Counts
  readonly state: State
  /** The whole number, where there is room for it. */
  readonly isWhole?: boolean
  /** Next to other text, a link must not differ by its color alone. */
  readonly isInText?: boolean
}

export function CountLink({ counts, state, isWhole = false, isInText = false }: Props) {
  const jobs = counts[state]
  if (jobs === 0) return <span className="text-soft">0</span>
  return (
    <span title={plural(jobs, `${state} job`)}>
      <TextLink
        to={`/jobs?queue=${encodeName(counts.queue)}&state=${state}`}
        className={classes(COLOURS[state], isInText && 'underline')}
      >
        {isWhole ? number(jobs) : compact(jobs)}
      </TextLink>
    </span>
  )
}

/** Those that matter most, where there is no room for their columns. */
export function NarrowCounts({ counts }: { readonly counts: Counts }) {
  return (
    <p className="flex flex-wrap gap-x-2.5 text-sm tabular-nums sm:hidden">
      {(['dead', 'running', 'ready'] as const).map((state) => (
        <span key={state} className="whitespace-nowrap">
          <CountLink isWhole isInText counts={counts} state={state} />{' '}
          <span className="text-soft">{state}</span>
        </span>
      ))}
    </p>
  )
}
