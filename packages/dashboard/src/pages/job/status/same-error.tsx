/** How many other jobs have the error of this job, with a link to their error group. */
import { useErrors } from '../../../api/reads.ts'
import { TextLink } from '../../../kit/button.tsx'
import { number } from '../../../kit/text/format.ts'

interface Props {
  readonly kind: string
  readonly fingerprint: string
}

/** The server reads thousands of failed jobs for the answer. */
const EVERY_MS = 30_000

export function SameError({ kind, fingerprint }: Props) {
  const { data } = useErrors({ kind, fingerprint }, { atMostEveryMs: EVERY_MS })
  if (data === undefined) return null
  const jobs = data.groups.reduce((sum, { dead, failing }) => sum + dead + failing, 0)
  // This job is one of them.
  const others = Math.max(0, jobs - 1)
  if (others === 0) return data.complete ? <span>No other job has this error</span> : null
  const search = new URLSearchParams({ kind, open: fingerprint })
  const many = `${number(others)}${data.complete ? '' : '+'}`
  return (
    <TextLink to={`/errors?${search.toString()}`}>
      {others === 1 ? `${many} other job has this error` : `${many} other jobs have this error`}
    </TextLink>
  )
}
