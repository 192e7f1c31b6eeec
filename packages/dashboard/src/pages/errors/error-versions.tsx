/** The versions on which the jobs of an error group failed, and whether the error is new in one of them. */
import type { Range } from '../../api/range.ts'
import type { ErrorGroup } from '../../api/types.ts'
import { TextLink } from '../../kit/button.tsx'
import { number } from '../../kit/text/format.ts'
import { jobsAddress } from './jobs-address.ts'

/** 2.15.0: 1,973 · 2.14.0: 0 – new in 2.15.0 */
interface Props {
  readonly group: ErrorGroup
  readonly range: Range | null
}

export function ErrorVersions({ group, range }: Props) {
  const { versions, newIn } = group
  if (versions.every(({ version }) => version === null)) return null
  return (
    <p className="tabular-nums">
      <span className="text-soft">Failures by version: </span>
      {versions.map(({ version, jobs }, at) => (
        <span key={version}>
          {at > 0 && ' · '}
          {version === null || jobs === 0 ? (
            (version ?? 'unknown')
          ) : (
            <TextLink
              to={`${jobsAddress(group, { range })}&version=${encodeURIComponent(version)}`}
              className="underline"
            >
              {version}
            </TextLink>
          )}
          : {number(jobs)}
        </span>
      ))}
      {newIn !== null && <b className="font-medium text-dead"> – new in {newIn}</b>}
    </p>
  )
}
