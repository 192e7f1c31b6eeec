/** The last lines that the last attempt logged. */
import type { LogLine } from '../../../api/types.ts'
import { TextLink } from '../../../kit/button.tsx'
import { LogRow } from '../tabs/log-row.tsx'
import type { Try } from '../tries.ts'

const MOST = 4

interface Props {
  readonly id: string
  readonly last: Try | undefined
}

export function LastLines({ id, last }: Props) {
  const lines = (last?.log ?? []).filter(isOwn).slice(-MOST)
  if (lines.length === 0) return null
  return (
    <div className="mt-3">
      <h3 className="flex items-baseline justify-between gap-4 text-xs text-soft">
        Last log lines
        <TextLink to={`/jobs/${id}?tab=log`}>View log</TextLink>
      </h3>
      <div className="mt-1 rounded-lg bg-sunk p-2 font-mono text-xs leading-5">
        {lines.map((line, at) => (
          // oxlint-disable-next-line react/no-array-index-key -- two may be the same
          <LogRow key={`${line.at} ${at}`} n={last?.n ?? 1} line={line} isFirst={false} />
        ))}
      </div>
    </div>
  )
}

/** Jobmill's line about the failure repeats the error above. */
const isOwn = ({ fields }: LogLine): boolean => fields?.['stack'] === undefined
