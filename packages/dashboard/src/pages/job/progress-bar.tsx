/** The progress of a job: a bar where it can be computed, otherwise the raw value. */
import { Json } from '../../kit/json/json.tsx'
import { number, percent } from '../../kit/text/format.ts'
import { shareOf } from './progress.ts'

export function ProgressBar({ progress }: { readonly progress: unknown }) {
  if (progress === null || progress === undefined) return <p className="text-soft">No progress reported.</p>
  const share = shareOf(progress)
  if (share === null) return <Json value={progress} name="progress" />
  return (
    <div>
      <div
        role="progressbar"
        aria-label="Progress"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(share.share * 100)}
        className="h-2 overflow-hidden rounded-full bg-sunk"
      >
        <div className="h-full rounded-full bg-running" style={{ width: `${share.share * 100}%` }} />
      </div>
      <p className="mt-1 text-soft tabular-nums">
        {percent(share.share)}
        {share.of !== null && `, ${number(share.of[0])} of ${number(share.of[1])}`}
      </p>
    </div>
  )
}
